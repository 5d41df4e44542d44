import { MessageCircleQuestion } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';
import { Button } from '../../ui/button.tsx';
import { TextAreaField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import type { Questions } from './call.ts';
import { initial, plain } from './schema.ts';
import { ObjectFields } from './schema-field.tsx';

interface AskedProps {
  readonly server: string;
  readonly questions: Questions;
  /** The results by name; undefined gives the call up. */
  readonly onAnswer: (answers: JsonObject | undefined) => void;
}

/** What a server asks in the middle of a call. It goes on when all of it is answered. */
export function Asked({ server, questions, onAnswer }: AskedProps) {
  const { t } = useTranslation();
  const [answers, setAnswers] = useState<JsonObject>({});
  const names = Object.keys(questions);
  const answered = (name: string, result: JsonObject) => {
    const next = { ...answers, [name]: result };
    if (names.every((each) => Object.hasOwn(next, each))) onAnswer(next);
    else setAnswers(next);
  };
  return (
    <Panel
      title={
        <span className="flex items-center gap-2">
          <MessageCircleQuestion size={16} aria-hidden className="text-warn" />
          {t('play.ask.title', { server })}
        </span>
      }
      lead={t('play.ask.lead')}
      actions={<Button onClick={() => onAnswer(undefined)}>{t('play.ask.giveUp')}</Button>}
    >
      <div className="flex flex-col gap-5">
        {names
          .filter((name) => !Object.hasOwn(answers, name))
          .map((name) => (
            <Question
              key={name}
              method={questions[name]?.method ?? ''}
              params={questions[name]?.params ?? {}}
              onAnswer={(result) => answered(name, result)}
            />
          ))}
      </div>
    </Panel>
  );
}

interface QuestionProps {
  readonly method: string;
  readonly params: JsonObject;
  readonly onAnswer: (result: JsonObject) => void;
}

function Question(props: QuestionProps) {
  const { t } = useTranslation();
  const { method, params } = props;
  if (method === 'sampling/createMessage') return <Sampling {...props} />;
  if (method !== 'elicitation/create') return <p className="text-sm">{t('play.ask.unknown', { method })}</p>;
  return params['mode'] === 'url' ? <Address {...props} /> : <Form {...props} />;
}

/** A form that the server describes. */
function Form({ params, onAnswer }: QuestionProps) {
  const { t } = useTranslation();
  const schema = plain(params['requestedSchema'], {});
  const [value, setValue] = useState<JsonObject>(() => {
    const first = initial(schema, schema);
    return isObject(first) ? first : {};
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ action: 'accept', content: value });
      }}
    >
      <Said text={params['message']} />
      <ObjectFields
        schema={schema}
        root={schema}
        value={value}
        onChange={setValue}
        path="content"
        errorAt={() => undefined}
        depth={0}
      />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" type="submit">
          {t('play.ask.send')}
        </Button>
        <Decline onAnswer={onAnswer} />
      </div>
    </form>
  );
}

/** A page that the user is to open. */
function Address({ params, onAnswer }: QuestionProps) {
  const { t } = useTranslation();
  const url = typeof params['url'] === 'string' ? params['url'] : '';
  // Any other scheme could run something here.
  const isWeb = /^https?:\/\//i.test(url);
  return (
    <div className="flex flex-col gap-3">
      <Said text={params['message']} />
      <p className="text-sm">
        {isWeb ? (
          <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent-ink break-all underline">
            {url}
          </a>
        ) : (
          <code className="text-xs break-all">{url}</code>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={() => onAnswer({ action: 'accept' })}>
          {t('play.ask.opened')}
        </Button>
        <Decline onAnswer={onAnswer} />
      </div>
    </div>
  );
}

function Decline({ onAnswer }: Pick<QuestionProps, 'onAnswer'>) {
  const { t } = useTranslation();
  return <Button onClick={() => onAnswer({ action: 'decline' })}>{t('play.ask.decline')}</Button>;
}

/** The user answers in the place of a model. */
function Sampling({ params, onAnswer }: QuestionProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const messages = Array.isArray(params['messages']) ? (params['messages'] as unknown[]) : [];
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        const content = { type: 'text', text };
        onAnswer({ role: 'assistant', content, model: 'playground', stopReason: 'endTurn' });
      }}
    >
      <Said text={params['systemPrompt']} />
      {messages.map((message, index) => (
        // Messages have no name but their place.
        <Said key={index} text={textOf(message)} />
      ))}
      <TextAreaField
        label={t('play.ask.asModel')}
        rows={4}
        required
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div>
        <Button look="primary" type="submit">
          {t('play.ask.send')}
        </Button>
      </div>
    </form>
  );
}

function textOf(message: unknown): string {
  const { role, content } = isObject(message) ? message : {};
  const text = isObject(content) && typeof content['text'] === 'string' ? content['text'] : JSON.stringify(content);
  return `${String(role)}: ${text}`;
}

function Said({ text }: { readonly text: unknown }) {
  if (typeof text !== 'string' || text === '') return null;
  return (
    <p className="bg-page border-line max-h-60 overflow-y-auto rounded-lg border px-3 py-2 text-sm break-words whitespace-pre-wrap">
      {text}
    </p>
  );
}
