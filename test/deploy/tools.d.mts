export const helm: string;
export const kubectl: string;
export function hasTools(): boolean;
export function installTools(): Promise<boolean>;
