export declare function limitsPage(): string;
