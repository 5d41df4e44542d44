/** What stands where a secret stood: in answers, in logs, in what servers say (CONTRACT §4, Servers). */
export const mask = '••••';
