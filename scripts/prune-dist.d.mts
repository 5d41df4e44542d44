export declare function pruneDist(built: string, made: readonly string[]): void;
