import type { z } from 'zod';
import type { Schema } from '../../core/answers/schema.ts';

/** What the document says of one route, besides what it knows from the route itself. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Who may call it, where the router does not know: with `admin`, other callers get 403. */
  readonly admin?: true;
  /** The schema that validates the body, or one that describes what is no JSON. */
  readonly body?: z.ZodType | { readonly type: string; readonly schema: Schema };
  /** The body may be left out. */
  readonly bodyOptional?: true;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly answer?: Answer;
  /** A POST that creates answers 201. */
  readonly created?: true;
  /** Failures are `{error, message}` (CONTRACT §4, OpenAPI-style). */
  readonly bareFailures?: true;
}

/** `data` of the envelope with other members beside it, or a body without an envelope. */
export type Answer =
  | { readonly data: Schema; readonly beside?: Readonly<Record<string, Schema>> }
  | { readonly bare: Schema; readonly type?: string };

/** Operations of one subject by method and path as the router has it: `GET /groups/:id`. */
export interface Subject {
  readonly name: string;
  readonly operations: Readonly<Record<string, Operation>>;
}
