import type { Texts } from '../../texts.ts';

export const login: Texts['login'] = {
  title: 'Iniciar sesión',
  username: 'Nombre de usuario',
  password: 'Contraseña',
  submit: 'Iniciar sesión',
  expired: 'Tu sesión ha caducado. Vuelve a iniciarla y seguirás donde estabas.',
  first: '¿Es tu primera vez aquí?',
  firstHint:
    'El hub mostró la contraseña de «admin» en el terminal al iniciarse por primera vez; si en su lugar escribe un log, este indica el archivo que la contiene. ¿La has perdido? Define ADMIN_PASSWORD e inicia el hub con un archivo de ajustes nuevo, o pídesela a otro administrador.',
  lead: 'Una sola dirección para todos tus servidores MCP.',
  withProvider: 'Iniciar sesión con {{name}}',
  goOnAs: 'Continuar como {{name}}',
  withPassword: 'Iniciar sesión con contraseña',
};

export const fresh: Texts['fresh'] = {
  title: 'Confirma tu contraseña',
  text: 'Iniciaste sesión hace más de 10 minutos. Esta acción requiere un inicio de sesión reciente.',
  go: 'Continuar',
};

export const strength: Texts['strength'] = {
  weak: 'Débil.',
  fair: 'Aceptable: mejor si es más larga.',
  good: 'Buena.',
  strong: 'Fuerte.',
  short: 'Es corta: se pueden probar todas las contraseñas de esta longitud.',
  common: 'Es una de las contraseñas más comunes, o casi.',
  name: 'Es el nombre de usuario, o casi.',
  product: 'Es el nombre de este programa, o casi.',
  repeated: 'Repite unos pocos caracteres.',
  sequence: 'Es una secuencia del alfabeto, de números o del teclado.',
};
