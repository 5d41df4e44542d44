import type { Texts } from '../../texts.ts';

export const login: Texts['login'] = {
  title: 'ログイン',
  username: 'ユーザー名',
  password: 'パスワード',
  submit: 'ログイン',
  expired: 'セッションが終了しました。再度ログインすると、元のページに戻ります。',
  first: 'はじめてお使いですか？',
  firstHint:
    '「admin」のパスワードは、ハブの初回起動時にターミナルに表示されます。ログに出力している場合は、パスワードを保存したファイルがログに記載されています。わからなくなった場合は、ADMIN_PASSWORD を設定して新しい設定ファイルで起動するか、別の管理者に問い合わせてください。',
  lead: 'すべての MCP サーバーを 1 つのアドレスで。',
  withProvider: '{{name}} でログイン',
  goOnAs: '{{name}} として続行',
  withPassword: 'パスワードでログイン',
};

export const fresh: Texts['fresh'] = {
  title: 'パスワードの再入力',
  text: '前回のログインから 10 分以上経過しています。この操作を行うには、パスワードの再入力が必要です。',
  go: '続行',
};

export const strength: Texts['strength'] = {
  weak: '弱い。',
  fair: '普通: 長くするとより安全です。',
  good: '良好。',
  strong: '強い。',
  short: '短すぎます。この長さのパスワードは総当たりで破られます。',
  common: 'よく使われるパスワードと同じか、よく似ています。',
  name: 'ユーザー名と同じか、よく似ています。',
  product: 'このプログラムの名前と同じか、よく似ています。',
  repeated: '同じ文字の繰り返しです。',
  sequence: 'アルファベット、数字、またはキーボードの並び順になっています。',
};
