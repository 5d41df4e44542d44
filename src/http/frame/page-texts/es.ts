import type { PageTexts } from './en.ts';

export const texts: PageTexts = {
  notConnected: 'No conectado',
  wentWrong: 'Algo ha fallado en el hub. Su log dice más.',
  wentWrongBeginAgain: 'Algo ha fallado en el hub. Su log dice más. Empieza de nuevo.',
  sentByOther: 'Este formulario lo ha enviado otra página. Empieza de nuevo en la aplicación.',
  sentByOtherOpenThis: 'Este formulario lo ha enviado otra página. Abre en su lugar la dirección de esta.',

  username: 'Nombre de usuario',
  password: 'Contraseña',
  continueButton: 'Continuar',
  code: 'Código de tu aplicación de autenticación, o un código de recuperación',
  recoveryCode: 'Código de recuperación',
  usePasskey: 'Usar una passkey',
  noPasskey: 'El navegador no ha proporcionado ninguna passkey. Inténtalo de nuevo, o usa un código.',
  oneAdmin: 'Iniciar sesión con contraseña (un administrador puede)',
  logInWith: 'Iniciar sesión con {{provider}}',

  logIn: 'Iniciar sesión en Tool Hub',
  logInForApp: '{{client}} quiere usar este Tool Hub. Inicia sesión para decir qué puede hacer.',
  noWayIn: 'No hay ninguna forma de iniciar sesión para esta aplicación. Pregunta a un administrador.',

  letIn: '¿Dejar entrar a {{client}}?',
  wantsToUse: '{{client}} quiere usar las herramientas de este hub como {{user}}.',
  answerAt: 'Recibe la respuesta en {{host}}.',
  notProved: 'No ha demostrado quién es: cualquier aplicación puede llamarse así.',
  proved: 'Ha demostrado quién es: {{host}} responde por ella.',
  onlySays: 'No ha demostrado que es la aplicación de {{host}}: cualquier aplicación de tu ordenador puede decirlo.',
  asksFor: 'Pide {{resource}}. Puede listar y llamar a lo que hay allí, sin cambiar ningún ajuste.',
  asksForApi: 'Pide {{resource}}. Puede listar y llamar a lo que hay allí.',
  reach: 'A qué puede acceder',
  everything: 'Todo lo que puedes usar allí, si no eliges nada abajo',
  onlyGroups: 'Solo estos grupos',
  onlyServers: 'Solo estos servidores',
  more: 'Qué más pide',
  manage:
    'Administrar este hub como tú puedes: servidores, grupos, ajustes, logs, pero no cuentas, contraseñas, claves ni aplicaciones.',
  manageAsAdmin: 'Eres administrador: podría ejecutar cualquier programa donde funciona el hub.',
  allow: 'Permitir',
  deny: 'Rechazar',

  notSignedIn: 'Sesión no iniciada',
  signIn: 'Iniciar sesión en {{server}}',
  signInLead: 'Di a Tool Hub quién eres. Después irás a donde el servidor quiere que inicies sesión.',
  signInAfter: '{{link}} y después inicia sesión allí en el servidor.',
  signedIn: 'Sesión iniciada en {{server}}',
  signedInLead: 'El hub se conecta ahora. Puedes cerrar esta ventana.',

  notLoggedIn: 'Sesión no iniciada',
  backToHub: 'Volver al hub',
};
