import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { useLineFocus } from '../../lib/focus.ts';
import { isObject } from '../../lib/json.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Check, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { initial, kindOf, plain, variantsOf } from './schema.ts';

export interface SchemaFieldProps {
  readonly name: string;
  readonly schema: JsonObject;
  /** What `$ref`s refer to. */
  readonly root: JsonObject;
  readonly required: boolean;
  /** Undefined is not sent. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** As the hub names it: `arguments.filter.tags[0]`. */
  readonly path: string;
  readonly errorAt: (path: string) => string | undefined;
  readonly depth: number;
}

const deepest = 6;

/** One value of a tool's arguments, with the control that its schema asks for. */
export function SchemaField(props: SchemaFieldProps) {
  const { schema, depth } = props;
  const kind = depth >= deepest ? 'json' : kindOf(schema);
  switch (kind) {
    case 'choice':
      return <Choice {...props} />;
    case 'boolean':
      return <Flag {...props} />;
    case 'object':
      return <Members {...props} />;
    case 'list':
      return <Items {...props} />;
    case 'variants':
      return <Variants {...props} />;
    case 'json':
      return <Json {...props} />;
    default:
      return <Simple {...props} />;
  }
}

/** What every field says of itself. */
function aboutOf({ name, schema, required, path, errorAt }: SchemaFieldProps) {
  const { title, description } = schema;
  return {
    label: typeof title === 'string' && title !== '' ? title : name,
    hint: typeof description === 'string' ? description : undefined,
    error: errorAt(path),
    optional: !required,
  };
}

function Simple(props: SchemaFieldProps) {
  const { schema, required, value, onChange } = props;
  const kind = kindOf(schema);
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const isNumber = kind === 'number' || kind === 'integer';
  const give = (next: string) => {
    if (next === '' && !required) return onChange(undefined);
    onChange(isNumber ? asNumber(next) : next);
  };
  const examples = Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : [];
  const shared = {
    ...aboutOf(props),
    required,
    value: text,
    placeholder: typeof examples[0] === 'string' ? examples[0] : undefined,
    onChange: (event: { target: { value: string } }) => give(event.target.value),
  };
  if (kind === 'long') return <TextAreaField rows={5} {...shared} />;
  const formats: Record<string, string> = { date: 'date', email: 'email', uri: 'url', password: 'password' };
  const format = typeof schema['format'] === 'string' ? formats[schema['format']] : undefined;
  return <TextField {...shared} type={format ?? 'text'} inputMode={isNumber ? 'decimal' : undefined} />;
}

/**
 * Text that a number would be shown as otherwise stays text (`1.` on the way to `1.5`, more digits than a number
 * keeps): the hub converts it exactly, or says why not.
 */
function asNumber(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text.trim() ? number : text;
}

function Choice(props: SchemaFieldProps) {
  const { t } = useTranslation();
  const { schema, required, value, onChange } = props;
  const values = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : [schema['const']];
  const names = values.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  const chosen = values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  return (
    <SelectField
      {...aboutOf(props)}
      required={required}
      value={chosen === -1 ? '' : String(chosen)}
      onChange={(event) => onChange(event.target.value === '' ? undefined : values[Number(event.target.value)])}
      options={[
        { value: '', label: t(required ? 'play.choose' : 'play.notSet') },
        ...names.map((label, index) => ({ value: String(index), label })),
      ]}
    />
  );
}

function Flag(props: SchemaFieldProps) {
  const { value, onChange } = props;
  const { label, hint, error } = aboutOf(props);
  return (
    <div>
      <Check label={label} hint={hint} checked={value === true} onChange={(event) => onChange(event.target.checked)} />
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
    </div>
  );
}

function Members(props: SchemaFieldProps) {
  const { schema, root, required, value, onChange, path, errorAt, depth } = props;
  const { label, hint, error } = aboutOf(props);
  const given = isObject(value) ? value : {};
  return (
    <fieldset className="border-line flex flex-col gap-4 rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-soft text-xs">{hint}</p>}
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      <ObjectFields
        schema={schema}
        root={root}
        value={given}
        // An object that may be left out has to be whole only once it is begun.
        optional={!required && Object.keys(given).length === 0}
        onChange={(next) => onChange(Object.keys(next).length === 0 && !required ? undefined : next)}
        path={path}
        errorAt={errorAt}
        depth={depth + 1}
      />
    </fieldset>
  );
}

interface ObjectFieldsProps extends Pick<SchemaFieldProps, 'schema' | 'root' | 'path' | 'errorAt' | 'depth'> {
  readonly value: JsonObject;
  /** None of its members has to be given, also where the schema requires them. */
  readonly optional?: boolean;
  readonly onChange: (value: JsonObject) => void;
}

/** A field for each property. What is not set is not a member of the value. */
export function ObjectFields({
  schema,
  root,
  value,
  optional = false,
  onChange,
  path,
  errorAt,
  depth,
}: ObjectFieldsProps) {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  return Object.entries(properties).map(([key, inner]) => (
    <SchemaField
      key={key}
      name={key}
      schema={plain(inner, root)}
      root={root}
      required={!optional && required.has(key)}
      value={value[key]}
      onChange={(next) => {
        const { [key]: _old, ...others } = value;
        onChange(next === undefined ? others : { ...value, [key]: next });
      }}
      path={`${path}.${key}`}
      errorAt={errorAt}
      depth={depth}
    />
  ));
}

function Items(props: SchemaFieldProps) {
  const { t } = useTranslation();
  const { schema, root, value, onChange, path, errorAt, depth, required } = props;
  const { label, hint, error } = aboutOf(props);
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const lines = useLineFocus(items.length);
  const inner = plain(schema['items'], root);
  // Fields keep what is typed into them: each item has a number that stays its own when one before it goes.
  const [keys, setKeys] = useState(() => items.map((_, index) => index));
  const set = (next: readonly unknown[]) => onChange(next.length === 0 && !required ? undefined : next);
  return (
    <fieldset ref={lines} className="border-line flex flex-col gap-2 rounded-lg border p-3">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-soft text-xs">{hint}</p>}
      {error !== undefined && <p className="text-bad text-xs">{error}</p>}
      {items.map((item, index) => (
        <div key={keys[index]} className="flex items-end gap-2">
          <div className="min-w-0 flex-1">
            <SchemaField
              name={`${label} ${index + 1}`}
              schema={inner}
              root={root}
              required
              value={item}
              onChange={(next) => set(items.map((old, at) => (at === index ? next : old)))}
              path={`${path}[${index}]`}
              errorAt={errorAt}
              depth={depth + 1}
            />
          </div>
          <IconButton
            icon={Trash2}
            label={t('play.removeItem', { number: index + 1, name: label })}
            onClick={() => {
              setKeys(keys.filter((_, at) => at !== index));
              set(items.filter((_, at) => at !== index));
            }}
          />
        </div>
      ))}
      <div>
        <Button
          look="quiet"
          icon={Plus}
          onClick={() => {
            setKeys([...keys, Math.max(-1, ...keys) + 1]);
            set([...items, initial(inner, root) ?? emptyOf(inner)]);
          }}
        >
          {t('play.addItem', { name: label })}
        </Button>
      </div>
    </fieldset>
  );
}

function emptyOf(schema: JsonObject): unknown {
  const empties = { text: '', long: '', boolean: false, object: {}, list: [] } as Partial<Record<string, unknown>>;
  return empties[kindOf(schema)] ?? null;
}

function Variants(props: SchemaFieldProps) {
  const { t } = useTranslation();
  const { schema, root, name } = props;
  const [chosen, setChosen] = useState(0);
  const variants = variantsOf(schema).map((each) => plain(each, root));
  const options = variants.map(({ title, type }, index) => ({
    value: String(index),
    label: typeof title === 'string' ? title : typeof type === 'string' ? type : `${index + 1}`,
  }));
  const { title, description } = schema;
  const about = { title: typeof title === 'string' ? title : name, ...(description !== undefined && { description }) };
  return (
    <div className="flex flex-col gap-2">
      <SelectField
        label={t('play.variant', { name })}
        value={String(chosen)}
        onChange={(event) => {
          setChosen(Number(event.target.value));
          props.onChange(undefined);
        }}
        options={options}
      />
      <SchemaField key={chosen} {...props} schema={{ ...variants[chosen], ...about }} depth={props.depth + 1} />
    </div>
  );
}

/**
 * For what has no better field. What is typed is the value only while it is JSON; until it is again there is none, and
 * the form cannot be sent.
 */
function Json(props: SchemaFieldProps) {
  const { t } = useTranslation();
  const { value, onChange } = props;
  const [text, setText] = useState(value === undefined || value === null ? '' : JSON.stringify(value, null, 2));
  const [bad, setBad] = useState(false);
  const { label, error, ...about } = aboutOf(props);
  return (
    <TextAreaField
      code
      {...about}
      label={`${label} (${t('play.jsonValue')})`}
      error={bad ? t('play.noJson') : error}
      rows={3}
      value={text}
      onChange={(event) => {
        const next = event.target.value;
        const given = jsonIn(next);
        setText(next);
        setBad(!given);
        event.target.setCustomValidity(given ? '' : t('play.noJson'));
        onChange(given?.value);
      }}
    />
  );
}

/** The value that a text is, which nothing is too; undefined when it is no JSON. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
