/** A template of a prompt with its arguments at their places: `{{name}}`. What an argument says is no template. */
export function filledTemplate(template: string, valueOf: (name: string) => string): string {
  return template.replace(/\{\{\s*([^{}\s]{1,200})\s*\}\}/g, (_, name: string) => valueOf(name));
}
