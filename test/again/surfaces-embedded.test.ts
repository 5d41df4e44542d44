import { again } from '../kit/again.ts';

await again('e2e/surfaces', 'embedded');
