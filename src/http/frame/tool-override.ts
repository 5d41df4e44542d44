import {
  mergedOverride,
  overriddenText,
  overrideProblems,
  unfitValues,
  unknownArguments,
} from '../../core/access/tool-override.ts';
import type { ToolOverrideAnswer } from '../../core/answers/settings.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { listed } from '../../core/errors.ts';
import { invalid } from '../../core/input.ts';
import { remark } from '../../core/remarks.ts';
import type { ItemSettings, ToolOverride } from '../../core/settings/server.ts';
import { overrideAnswer } from '../../settings/document/tool-override.ts';

/** The tool whose override is asked for, by the server's own name of it. */
export interface AskedTool {
  readonly server: string;
  readonly tool: string;
  /** What the settings of the server say of its tools. */
  readonly own: ReadonlyMap<string, ItemSettings> | undefined;
  /** The caller may change the server, and so sees what it says itself. Others see it as its override has it. */
  readonly isManaged: boolean;
}

/** The override that is shown: that of the server, or that of a group together with the server's. */
export type Shown = { readonly server: ToolOverride | undefined } | { readonly group: ToolOverride | undefined };

/** The tool without the override and with it. */
export function overrideShown(
  { offers }: Catalogue,
  { server, tool, own, isManaged }: AskedTool,
  shown: Shown,
): ToolOverrideAnswer {
  const item = offers.get(server)?.tools.find(({ key }) => key === tool);
  const written = 'server' in shown ? shown.server : shown.group;
  const active = 'server' in shown ? shown.server : mergedOverride(own?.get(tool), shown.group);
  const ofServer = mergedOverride(own?.get(tool), undefined);
  return {
    tool,
    override: written ? overrideAnswer(written) : null,
    before: item ? JSON.parse(overriddenText(item, isManaged ? undefined : ofServer)) : null,
    after: item ? JSON.parse(overriddenText(item, active)) : null,
  };
}

/**
 * The same, with what may be a mistake as a message. Throws HubError `invalid_input` for an override that cannot be, as
 * the tools of the server are now; while they are not known, anything can.
 */
export function overrideChecked(
  catalogue: Catalogue,
  asked: AskedTool,
  shown: Shown,
): [ToolOverrideAnswer, { message?: string }] {
  const { server, tool, own } = asked;
  const written = 'server' in shown ? shown.server : shown.group;
  const items = catalogue.offers.get(server)?.tools;
  const active = 'server' in shown ? shown.server : mergedOverride(own?.get(tool), shown.group);
  const problems = items && active ? overrideProblems(items, tool, active) : [];
  if (problems.length > 0) throw invalid(`Cannot override "${tool}"`, problems);
  const item = items?.find(({ key }) => key === tool);
  const unknown = item && written ? unknownArguments(item, written) : [];
  const remarks = [
    ...(items === undefined ? [remark('override_unchecked', { server })] : []),
    ...(items && !item ? [remark('override_no_tool', { server, tool })] : []),
    ...(unknown.length > 0
      ? [remark('override_no_argument', { names: listed(unknown.map((one) => `"${one}"`)) })]
      : []),
    ...(item && written ? unfitValues(item, written) : []),
  ];
  const answer = overrideShown(catalogue, asked, shown);
  if (remarks.length === 0) return [answer, {}];
  const message = remarks.map(({ text }) => text).join(' ');
  return [{ ...answer, said: remarks.map(({ said }) => said) }, { message }];
}
