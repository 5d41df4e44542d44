import type { Texts } from '../../texts.ts';

export const palette: Texts['palette'] = {
  title: '全体を検索',
  open: '検索…',
  placeholder: 'サーバー、ツール、グループ、ページ、操作',
  found_other: '{{number}} 件の結果',
  kinds: {
    page: 'ページ',
    action: '操作',
    server: 'サーバー',
    group: 'グループ',
    tool: 'ツール',
    key: 'キー',
    user: 'ユーザー',
  },
  reconnect: '{{name}} を再接続',
  paste: '設定を貼り付けてサーバーを追加',
  policy: 'ポリシーを追加',
  theme: 'テーマを切り替え: {{theme}}',
  keys: 'キーボードショートカット',
  keysText: '入力中、またはダイアログが開いている間は使えません。',
  everywhere: 'すべてのページ',
  pages: 'ページへ移動',
  slash: 'このページ内を検索',
  escape: '閉じる、または検索をクリア',
  records: '呼び出しを開いているときの前後の呼び出し',
};
