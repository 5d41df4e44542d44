import type { Texts } from '../../texts.ts';

export const traffic: Texts['traffic'] = {
  lead: 'どのクライアントが、どのエンドポイントを通じて、どのサーバーを呼び出しているかを示します。太いほど呼び出しが多く、赤は失敗です。',
  leadOwn: '自分のクライアントからサーバーへの呼び出しです。太いほど呼び出しが多く、赤は失敗です。',
  hint: '名前をクリックすると、その呼び出しだけを表示します。',
  column: {
    client: 'クライアント',
    scope: 'エンドポイント',
    server: 'サーバー',
    tool: 'ツール',
  },
  one: {
    client: 'クライアント',
    scope: 'エンドポイント',
    server: 'サーバー',
  },
  noClient: '名前なし (通常の HTTP)',
  all: 'すべてのサーバー',
  search: '検索',
  searchIn: '{{name}} 内の検索',
  others_other: '他 {{number}} 件',
  rest: 'その他',
  calls_other: '{{number}} 回の呼び出し',
  failedOf_other: '{{number}} 回の呼び出し、{{failed}} 回失敗',
  sum_other: '{{number}} 回の呼び出し、{{failed}} 回失敗。拒否された呼び出しは図に含まれません。',
  list: 'これらの呼び出しの一覧',
  table: '図を表で見る',
};
