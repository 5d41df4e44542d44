/** Why a server in a sandbox does not start: a part of `reasons`. */
export const sandboxReasons = {
  sandbox_missing: {
    text: 'このサーバーはサンドボックスで実行する設定ですが、このマシンにコマンド "bwrap" (bubblewrap) がありません。',
    advice: 'パッケージ bubblewrap をインストールするか、サーバーの "sandbox" を false にしてください。',
  },
  container_missing: {
    text: 'このサーバーはコンテナーで実行する設定ですが、このマシンには "docker" も "podman" もありません。',
    advice: 'どちらかをインストールするか、サーバーから "container" を削除してください。',
  },
  sandbox_forbidden: {
    text: 'システムがハブによるサンドボックスの作成を許可していません: {{line}}',
    advice: 'ハブのユーザーにユーザー名前空間を許可するか、サーバーの "sandbox" を false にしてください。',
  },
  sandbox_path: {
    text: 'サンドボックスに含める 「{{path}}」 が存在しません。',
    advice: '作成するか、"{{list}}" を修正してください。',
  },
  sandbox_secret: {
    text: '「{{path}}」 は、サンドボックスに含められないもの (ハブのデータフォルダーや設定、またはシステム自体) であるか、それを含んでいます。',
    advice:
      '"{{list}}" には、それらを含まないフォルダーを指定するか、データフォルダーと設定を別の場所に移してください。',
  },
  sandbox_nested: {
    text: '「{{path}}」 は、サンドボックスが書き込めるフォルダーの中にあるか、そこを経由しています。プログラムがその場所にリンクを置く可能性があります。',
    advice: '"{{list}}" には、"sandbox.write" の外のパスを指定してください。',
  },
  sandbox_program: {
    text: 'プログラム 「{{command}}」 がサンドボックスの中にありません。',
    advice: 'そのフォルダーを "sandbox.read" に追加してください。',
  },
};
