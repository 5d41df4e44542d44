import { again } from '../kit/again.ts';

await again('property/api-fuzz', 'postgres');
