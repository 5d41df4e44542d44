import { upstreamLimits } from '../../limits.ts';

/**
 * In which of its tools a server sends server requests (elicitation, sampling), as far as that was seen. A server does
 * not say it.
 */
export class ServerRequestHistory {
  /** By tool, whether it asked. */
  readonly #tools = new Map<string, boolean>();
  #hasAsked = false;
  #answered = 0;

  /** The server asked while these tools ran; which of them it was may not be known. */
  asked(tools: Iterable<string | undefined>): void {
    this.#hasAsked = true;
    for (const tool of tools) if (tool !== undefined) this.#note(tool, true);
  }

  /** A call was answered. */
  answered(tool: string | undefined): void {
    if (tool === undefined || this.#tools.has(tool)) return;
    this.#answered += 1;
    this.#note(tool, false);
  }

  /**
   * Whether a call of this tool may ask. Of a tool that never ran: unless the server has many others, and none of them
   * asked.
   */
  mayAsk(tool: string): boolean {
    return this.#tools.get(tool) ?? (this.#hasAsked || this.#answered < upstreamLimits.quietTools);
  }

  #note(tool: string, serverRequests: boolean): void {
    if (this.#tools.size < upstreamLimits.askingTools || this.#tools.has(tool)) this.#tools.set(tool, serverRequests);
  }
}
