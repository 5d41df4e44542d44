import type { Hono } from 'hono';
import type { ServerState } from '../core/hub.ts';
import { createToolArguments } from '../core/tool-arguments.ts';
import type { Views } from '../core/view.ts';
import type { DispatchOptions } from '../mcp/dispatch.ts';
import { createCalls } from './calls.ts';
import type { ApiEnv } from './caller.ts';
import { documentsRoutes } from './openapi-documents.ts';
import { executionRoutes } from './openapi-execution.ts';
import { promptsResourcesRoutes } from './prompts-resources.ts';
import { toolsRoutes } from './tools.ts';

export interface CallResourcesOptions {
  readonly views: Views;
  readonly states: () => readonly ServerState[];
  readonly dispatch: DispatchOptions;
  readonly allowedOrigins: readonly string[];
  /** `${BASE_PATH}/api`. */
  readonly mount: string;
  readonly baseUrl: string | undefined;
}

/** What calls tools, prompts and resources over HTTP, and what describes that. The routes that name a server first come after all others. */
export function callResources(options: CallResourcesOptions): Hono<ApiEnv>[] {
  const { views, states, dispatch, allowedOrigins, mount, baseUrl } = options;
  const calls = createCalls({ views, states, dispatch, toolArguments: createToolArguments() });
  return [
    toolsRoutes(calls),
    promptsResourcesRoutes(calls),
    documentsRoutes({ views, states, allowedOrigins, mount, baseUrl, version: dispatch.version }),
    executionRoutes({ calls, allowedOrigins }),
  ];
}
