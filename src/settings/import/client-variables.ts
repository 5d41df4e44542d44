import { problemText } from '../../core/problems.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import { variableName } from '../server/variables.ts';
import type { Inputs, Sink } from './sink.ts';

/**
 * Turns the variables of other programs into the hub's. One translator per server: it collects the values that this
 * server asks for.
 */
export interface Translator {
  /** The text with the hub's variables in it. */
  translate(text: string, path: string): string;
  /** What the user has to give before the server can run, each once. */
  required(): RequiredConfig[];
  require(config: RequiredConfig): void;
}

/**
 * `${env:NAME}` (VS Code, Cursor) and a text that is nothing but `$NAME` (Gemini CLI, MCPHub) become `${NAME}`;
 * `${input:id}` becomes `${ID}` and a question. What only an editor knows is reported.
 */
export function createTranslator(inputs: Inputs, sink: Sink): Translator {
  const asked = new Map<string, RequiredConfig>();
  const require = (config: RequiredConfig) => void asked.set(config.key, config);

  function fromInput(id: string): string {
    const key = variableName(id);
    require({ key, ...(inputs.get(id) ?? { title: id, type: 'string', description: '', sensitive: true }) });
    return `\${${key}}`;
  }

  function translate(text: string, path: string): string {
    if (/^\$[A-Z_][A-Z0-9_]*$/.test(text)) return `\${${text.slice(1)}}`;
    return text.replace(
      /\$\{(?:(env|input|command|config):)?([^{}]*)\}/g,
      (whole, kind: string | undefined, name: string) => {
        if (kind === 'env' && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
        if (kind === 'input') return fromInput(name);
        if (kind === undefined && name === 'userHome') return '${HOME}';
        if (kind === undefined && (name === 'pathSeparator' || name === '/')) return '/';
        if (kind !== undefined || editorVariables.has(name))
          sink.note(path, problemText('pasted_editor_variable', { found: whole }));
        return whole;
      },
    );
  }

  return { translate, require, required: () => [...asked.values()] };
}

const editorVariables = new Set([
  'workspaceFolder',
  'workspaceFolderBasename',
  'workspaceRoot',
  'file',
  'fileDirname',
  'cwd',
  'extensionPath',
  'execPath',
]);
