import type { PageTexts } from './en.ts';

export const texts: PageTexts = {
  notConnected: '接続されていません',
  wentWrong: 'ハブで問題が発生しました。詳細はハブのログにあります。',
  wentWrongBeginAgain: 'ハブで問題が発生しました。詳細はハブのログにあります。最初からやり直してください。',
  sentByOther: 'このフォームは別のページから送信されました。アプリからやり直してください。',
  sentByOtherOpenThis: 'このフォームは別のページから送信されました。このページのアドレスを開いてください。',

  username: 'ユーザー名',
  password: 'パスワード',
  continueButton: '続行',
  code: '認証アプリのコード、またはリカバリーコード',
  recoveryCode: 'リカバリーコード',
  usePasskey: 'パスキーを使用',
  noPasskey: 'ブラウザーからパスキーを取得できませんでした。再試行するか、コードを使用してください。',
  oneAdmin: 'パスワードでログイン (管理者 1 名のみ)',
  logInWith: '{{provider}} でログイン',

  logIn: 'Tool Hub にログイン',
  logInForApp: '{{client}} がこの Tool Hub の使用を求めています。ログインして、許可する内容を選択してください。',
  noWayIn: 'このアプリで利用できるログイン方法がありません。管理者に問い合わせてください。',

  letIn: '{{client}} に許可しますか？',
  wantsToUse: '{{client}} が、{{user}} としてこのハブのツールを使用することを求めています。',
  answerAt: '応答は {{host}} に送られます。',
  notProved: 'このアプリの身元は確認されていません。どのアプリでもこの名前を名乗れます。',
  proved: 'このアプリの身元は確認されています。{{host}} が保証しています。',
  onlySays: '{{host}} のアプリであることは確認されていません。このコンピューター上のどのアプリでもそう名乗れます。',
  asksFor: '要求しているのは {{resource}} です。そこにあるものの一覧表示と呼び出しができますが、設定は変更できません。',
  asksForApi: '要求しているのは {{resource}} です。そこにあるものの一覧表示と呼び出しができます。',
  reach: 'アクセスできる範囲',
  everything: '下で選択しない場合は、そこで利用できるものすべて',
  onlyGroups: '次のグループのみ',
  onlyServers: '次のサーバーのみ',
  more: 'そのほかの要求',
  manage:
    'あなたと同じ権限でこのハブを管理する: サーバー、グループ、設定、ログ。アカウント、パスワード、キー、アプリは含みません。',
  manageAsAdmin: 'あなたは管理者です。アプリは、ハブが動作しているマシンで任意のプログラムを実行できます。',
  allow: '許可',
  deny: '拒否',

  notSignedIn: 'サインインできませんでした',
  signIn: '{{server}} にサインイン',
  signInLead: 'まず Tool Hub にログインしてください。その後、サーバーのサインイン先に移動します。',
  signInAfter: '{{link}}した後、そこでサーバーにサインインします。',
  signedIn: '{{server}} にサインインしました',
  signedInLead: 'ハブが接続を開始しました。このウィンドウは閉じてかまいません。',

  notLoggedIn: 'ログインできませんでした',
  backToHub: 'ハブに戻る',
};
