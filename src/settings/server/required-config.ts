/**
 * One value that a server cannot run without and that is not given yet (CONTRACT §4, MCPB upload; `inputs` of a VS Code
 * file).
 */
export interface RequiredConfig {
  /**
   * What the value is given under: a key of the bundle's `user_config`, or the variable the imported entry refers to.
   */
  key: string;
  title: string;
  type: 'string' | 'number' | 'boolean' | 'directory' | 'file';
  description: string;
  /** To be typed into a masked field. */
  sensitive: boolean;
  default?: string | number | boolean | string[];
}
