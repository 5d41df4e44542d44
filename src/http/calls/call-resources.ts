import type { Context, Hono } from 'hono';
import type { Views } from '../../core/access/view.ts';
import { createToolArguments } from '../../core/arguments/tool.ts';
import type { DispatchOptions } from '../../mcp/dispatch.ts';
import type { Guard } from '../frame/guard.ts';
import type { ApiEnv } from '../frame/caller.ts';
import { type CallsOptions, createCalls } from './calls.ts';
import { documentsRoutes } from './openapi-documents.ts';
import { executionRoutes } from './openapi-execution.ts';
import { promptsResourcesRoutes } from './prompts-resources.ts';
import { type SmartRoutingOptions, smartRoutingRoutes } from './smart-routing.ts';
import { smartSearchRoutes } from './smart-search.ts';
import { toolsRoutes } from './tools.ts';

export interface CallResourcesOptions extends SmartRoutingOptions {
  readonly views: Views;
  readonly dispatch: DispatchOptions;
  readonly credentials: CallsOptions['credentials'];
  readonly allowedOrigins: readonly string[];
  readonly guard: Pick<Guard, 'isOwn'>;
  /** The address by which the one who asks reaches the hub, `BASE_PATH` included. */
  readonly hubUrl: (c: Context) => string;
}

/**
 * What calls tools, prompts and resources over HTTP, and what describes that. The routes that name a server first come
 * after all others.
 */
export function callResources(options: CallResourcesOptions): Hono<ApiEnv>[] {
  const { views, states, dispatch, allowedOrigins, hubUrl, credentials } = options;
  const calls = createCalls({ views, states, dispatch, credentials, toolArguments: createToolArguments() });
  return [
    smartRoutingRoutes(options),
    toolsRoutes(calls, dispatch),
    promptsResourcesRoutes(calls),
    ...(dispatch.smart ? [smartSearchRoutes({ views, smart: dispatch.smart })] : []),
    documentsRoutes({ views, states, allowedOrigins, hubUrl, version: dispatch.version }),
    executionRoutes({ calls, allowedOrigins, isOwn: options.guard.isOwn, records: dispatch.records }),
  ];
}
