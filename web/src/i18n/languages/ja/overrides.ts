import type { Texts } from '../../texts.ts';

export const overrides: Texts['overrides'] = {
  open: 'クライアントへの見え方を変更',
  openOf: 'このグループのクライアントへの {{tool}} の見え方を変更',
  badge: '上書き済み',
  title: 'クライアントへの {{tool}} の見え方',
  ofServer: 'すべてのエンドポイントに適用されます。サーバー「{{server}}」自体は変更されません。',
  ofGroup: 'グループ「{{group}}」のエンドポイントに適用され、サーバー「{{server}}」の設定より優先されます。',
  nameOnly: 'このサーバーは他のユーザーが管理しています。あなたのグループでは、ツールの名前だけを変更できます。',
  unknown: 'サーバーがまだこのツールを一覧に出していないため、比較できません。',
  name: 'クライアントに見せる名前',
  nameHint: '英字、数字、「_」、「-」。',
  toolTitle: 'タイトル',
  toolTitleHint: 'クライアントが人に表示する名前です。',
  description: '説明',
  descriptionHint: 'すべてのモデルが会話のたびに読みます。空欄ならサーバーの文言です。',
  hintsHint:
    'ポリシーと読み取り専用のアクセスキーはこれに従います。サーバーが何も示さない場合や誤っている場合に訂正してください。',
  hintsOfGroup:
    'グループのクライアントに表示されます。ポリシーとアクセスキーは、サーバーまたはサーバー側の上書きに従います。',
  hints: {
    readOnlyHint: '読み取りのみ',
    destructiveHint: 'データを壊す可能性がある',
    idempotentHint: '2 回呼び出しても結果は変わらない',
    openWorldHint: '外部の世界とやり取りする',
  },
  saysYes: 'サーバーのとおり：はい',
  saysNo: 'サーバーのとおり：いいえ',
  saysNothing: 'サーバーの指定なし',
  yes: 'はい',
  no: 'いいえ',
  arguments: '引数',
  argumentsHint: '値に秘密情報を入れないでください。サーバーの管理者に見え、呼び出しの記録にも残ります。',
  required: '必須',
  gone: '現在このツールにはありません',
  way: '誰が指定するか',
  ways: {
    open: 'クライアント（サーバーのとおり）',
    default: 'クライアント。なければこの値',
    value: '常にこの値',
  },
  value: '値',
  asJson: 'JSON で記入：20、true、"text"、["a", "b"]',
  noJson: 'JSON の値ではありません。文字列は引用符で囲んでください。',
  hide: 'クライアントから隠す',
  preview: 'クライアントからの見え方',
  difference: '一覧に出るツール（変更前と変更後）',
  same: 'サーバーが示すとおりです。',
  costs: '変更前は約 {{before}} トークン、変更後は約 {{after}} トークン',
  overtaken: 'この上書きは別の場所で変更されました。保存すると、ここの内容に置き換わります。',
  remove: 'サーバーのツールに戻す',
  removeTitle: '上書きを削除しますか？',
  removeText: 'クライアントには、以前の名前、文言、引数でツールが見えるようになります。',
  removed: '上書きを削除しました。',
};

export const parts: Texts['parts'] = {
  title: '大きな結果',
  were: 'このツールの結果は、過去 30 日間で最大約 {{tokens}} トークンでした。',
  offer: '分割して返す',
  most: '結果のトークン数の上限',
  mostHint:
    'クライアントは最初の項目をまとまりのまま受け取り、必要なら続きを読みます。0：常に全体。空欄：サーバーの設定に従います。',
  ofServer: '結果のトークン数の上限',
  ofServerHint: 'これより大きな結果は分割されます。0：常に全体。空欄：設定に従います。',
  ofGroupHint:
    'このグループのエンドポイントに適用されます。これより大きな結果は分割されます。0：常に全体。空欄：サーバーの設定に従います。',
  ofHubHint: 'これより大きな結果は分割されます。サーバー、グループ、ツールごとに上限を設定できます。空欄：常に全体。',
  context: 'モデルが読むもの',
  skills: 'スキルのフォルダー',
  skillsHint:
    'Hub のマシン上のフォルダーです。SKILL.md を含む各フォルダーが、すべてのエンドポイントのクライアントに提供されます。',
  code: 'コードモード',
  codeHint: '/mcp/$code での 1 回の実行の上限です。',
  codeSeconds: '秒数',
  codeMemory: 'メモリ（MB）',
  codeCalls: '呼び出し数',
};

export const secrets: Texts['secrets'] = {
  title: '呼び出しの中の秘密情報',
  secretsIn: '引数の中の秘密情報',
  secretsOut: '結果の中の秘密情報',
  hint: '形式からそれと分かるトークンや鍵が対象です。',
  allow: '検査しない',
  mask: '伏せる',
  refuse: '呼び出しを拒否する',
};
