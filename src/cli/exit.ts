/** What the process says when it ends (CONTRACT §1). */
export const exitCodes = { stopped: 0, failed: 1, misconfigured: 2 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
