import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { isObject, objectIn } from '../../lib/json.ts';
import { problemAt } from '../../lib/problems.ts';
import { TextAreaField } from '../../ui/field.tsx';
import { ObjectFields } from './schema-field.tsx';
import { initial, plain } from './schema.ts';

export interface Arguments {
  readonly schema: JsonObject;
  readonly hasFields: boolean;
  /** What would be sent; undefined while the text is no JSON. */
  readonly value: JsonObject | undefined;
  /** The same, or the last that could be sent. */
  readonly shown: JsonObject;
  /** What is typed in place of the form; undefined while the form is shown. */
  readonly json: string | undefined;
  readonly toggle: () => void;
  /** Puts other arguments in place of what was typed. */
  readonly fill: (args: JsonObject) => void;
  readonly setArgs: (args: JsonObject) => void;
  readonly setJson: (text: string) => void;
  readonly fills: number;
}

/** The arguments of a tool while they are typed, in a form or as JSON. */
export function useArguments(inputSchema: JsonObject | undefined, first: JsonObject | undefined): Arguments {
  const schema = plain(inputSchema ?? {}, inputSchema ?? {});
  const [args, setArgs] = useState<JsonObject>(() => {
    const start = first ?? initial(schema, schema);
    return isObject(start) ? start : {};
  });
  const [json, setJson] = useState<string>();
  const [fills, setFills] = useState(0);
  const { value } = json === undefined ? { value: args } : objectIn(json);
  return {
    schema,
    hasFields: isObject(schema['properties']) && Object.keys(schema['properties']).length > 0,
    value,
    shown: value ?? args,
    json,
    toggle() {
      if (json === undefined) return setJson(JSON.stringify(args, null, 2));
      if (value) setArgs(value);
      setJson(undefined);
    },
    fill(next) {
      setArgs(next);
      if (json !== undefined) setJson(JSON.stringify(next, null, 2));
      // Fields keep what was typed into them.
      setFills(fills + 1);
    },
    setArgs,
    setJson,
    fills,
  };
}

/** `error`: what the hub said of them. */
export function ArgumentFields({ fields, error }: { readonly fields: Arguments; readonly error: unknown }) {
  const { t } = useTranslation();
  const { schema, json, value, shown, hasFields, setArgs, setJson, fills } = fields;
  if (json !== undefined) {
    return (
      <TextAreaField
        code
        label={t('play.arguments')}
        rows={8}
        error={value ? undefined : t('play.noJson')}
        value={json}
        onChange={(event) => setJson(event.target.value)}
      />
    );
  }
  if (!hasFields) return <p className="text-soft text-sm">{t('play.noArguments')}</p>;
  return (
    <ObjectFields
      key={fills}
      schema={schema}
      root={schema}
      value={shown}
      onChange={setArgs}
      path="arguments"
      errorAt={(path) => problemAt(error, path)}
      depth={0}
    />
  );
}
