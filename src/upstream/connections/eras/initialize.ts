import { skillsExtension } from '../../../core/access/skills.ts';
import type { ServerAbout } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import { memberText } from '../../../core/json/text.ts';
import { capabilitiesText, type ClientCapabilities } from '../../../core/protocol/server-requests.ts';
import { isObject } from '../../../core/protocol/rpc.ts';
import { type Ask, refusal } from '../exchange.ts';
import { sessionRevisions } from '../../../core/protocol/revisions.ts';

/**
 * Runs `initialize` (session era) and says what the server is. `abilities`: what it may ask of clients. Throws HubError
 * `upstream_failed`.
 */
export async function initialize(
  ask: Ask,
  version: string,
  abilities: ClientCapabilities,
  timeoutMs: number,
): Promise<ServerAbout> {
  const info = JSON.stringify({ name: 'toolhub', version });
  const params = `{"protocolVersion":"${sessionRevisions[0]}","capabilities":${capabilitiesText(abilities)},"clientInfo":${info}}`;
  const { message, text } = await ask('initialize', params, timeoutMs);
  const { result } = message;
  if (!isObject(result)) throw new HubError('upstream_failed', `initialize was refused: ${refusal(message.error)}`);
  const protocolVersion = String(result['protocolVersion']);
  if (!sessionRevisions.includes(protocolVersion)) {
    throw new HubError('upstream_failed', `The server speaks MCP ${protocolVersion}, which this hub does not know.`);
  }
  const { instructions } = result;
  return {
    info: memberText(memberText(text, 'result') ?? '{}', 'serverInfo') ?? '{}',
    instructions: typeof instructions === 'string' ? instructions : undefined,
    capabilities: capabilityNames(result['capabilities']),
    protocolVersion,
  };
}

/** Names of the capabilities a server declares, with the parts that are true: `resources`, `resources.subscribe`. */
export function capabilityNames(capabilities: unknown): string[] {
  if (!isObject(capabilities)) return [];
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const parts = isObject(value)
      ? Object.keys(value).filter((part) => value[part] === true || isObject(value[part]))
      : [];
    const names = [name, ...parts.map((part) => `${name}.${part}`)];
    const skills = name === 'extensions' && isObject(value) ? value[skillsExtension] : undefined;
    if (isObject(skills) && skills['directoryRead'] === true) names.push(`${name}.${skillsExtension}.directoryRead`);
    return names;
  });
}
