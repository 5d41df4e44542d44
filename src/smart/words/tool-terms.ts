import { terms } from './analyzer.ts';
import type { ToolDocument } from '../document.ts';

/** The terms of a tool, field by field, in order; the first 60 of each. */
export interface ToolTerms {
  readonly name: readonly string[];
  readonly server: readonly string[];
  readonly serverDescription: readonly string[];
  readonly description: readonly string[];
  readonly firstSentence: readonly string[];
  readonly parameterNames: readonly string[];
  readonly parameterTexts: readonly string[];
}

export function toolTerms(tool: ToolDocument): ToolTerms {
  const description = termsOf(tool.description);
  const sentence = firstSentence(tool.description.slice(0, fieldChars));
  return {
    name: termsOf(tool.name),
    server: termsOf(tool.server),
    serverDescription: termsOf(tool.serverDescription ?? ''),
    description,
    firstSentence: sentence === undefined ? description : termsOf(sentence),
    parameterNames: termsOf(tool.parameterNames),
    parameterTexts: termsOf(tool.parameterTexts),
  };
}

/** What a description says after this many terms is about details. */
const fieldTerms = 60;
/** Enough text for those; the rest of a long one is never looked at. */
const fieldChars = 2_000;

function termsOf(text: string): string[] {
  return terms(text.slice(0, fieldChars)).slice(0, fieldTerms);
}

/** Undefined when there is only one. */
function firstSentence(text: string): string | undefined {
  const end = /[.!?\n]\s/.exec(text);
  return end ? text.slice(0, end.index) : undefined;
}
