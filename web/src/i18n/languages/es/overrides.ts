import type { Texts } from '../../texts.ts';

export const overrides: Texts['overrides'] = {
  open: 'Cambiar lo que ven los clientes',
  openOf: 'Cambiar lo que ven de {{tool}} los clientes de este grupo',
  badge: 'redefinido',
  title: 'Cómo ven los clientes la herramienta {{tool}}',
  ofServer: 'Vale en todos los endpoints. El servidor «{{server}}» en sí no se modifica.',
  ofGroup: 'Vale en los endpoints del grupo «{{group}}» y prevalece sobre lo definido en el servidor «{{server}}».',
  nameOnly: 'Otros administran este servidor. En tu grupo puedes dar otros nombres a sus herramientas.',
  unknown: 'El servidor aún no ha listado esta herramienta, así que no se puede comparar nada.',
  name: 'Nombre para los clientes',
  nameHint: 'Letras, dígitos, «_» y «-».',
  toolTitle: 'Título',
  toolTitleHint: 'Lo que los clientes muestran a las personas.',
  description: 'Descripción',
  descriptionHint: 'Cada modelo la lee en cada conversación. Vacío: el texto del servidor.',
  hintsHint:
    'Las políticas y las claves de acceso de solo lectura se guían por ellas. Corrígelas donde el servidor no diga nada o se equivoque.',
  hintsOfGroup:
    'Las ven los clientes del grupo. Las políticas y las claves de acceso se guían por lo que dice el servidor, o su propia redefinición.',
  hints: {
    readOnlyHint: 'Solo lee',
    destructiveHint: 'Puede destruir algo',
    idempotentHint: 'Una segunda llamada no cambia nada más',
    openWorldHint: 'Accede al mundo exterior',
  },
  saysYes: 'Como dice el servidor: sí',
  saysNo: 'Como dice el servidor: no',
  saysNothing: 'El servidor no dice nada',
  yes: 'Sí',
  no: 'No',
  arguments: 'Argumentos',
  argumentsHint:
    'No pongas secretos aquí: quienes administran el servidor ven estos valores, y figuran en los registros de llamadas.',
  required: 'obligatorio',
  gone: 'la herramienta no lo tiene ahora',
  way: 'Quién lo da',
  ways: {
    open: 'El cliente, como dice el servidor',
    default: 'El cliente; si no, este valor',
    value: 'Siempre este valor',
  },
  value: 'Valor',
  asJson: 'En JSON: 20, true, "texto", ["a", "b"]',
  noJson: 'No es un valor JSON. Un texto necesita comillas.',
  hide: 'Ocultarlo a los clientes',
  preview: 'Como lo ven los clientes',
  difference: 'La herramienta listada, antes y después',
  same: 'Tal como la ofrece su servidor.',
  costs: '≈ {{before}} tokens antes, ≈ {{after}} después',
  overtaken: 'Esta redefinición se ha cambiado en otro lugar mientras tanto. Guardar la sustituye por lo que hay aquí.',
  remove: 'Volver a la herramienta del servidor',
  removeTitle: '¿Quitar la redefinición?',
  removeText: 'Los clientes ven la herramienta con el nombre, los textos y los argumentos que tenía antes.',
  removed: 'La redefinición se ha quitado.',
};

export const parts: Texts['parts'] = {
  title: 'Resultados grandes',
  were: 'Los resultados de esta herramienta tuvieron hasta ≈ {{tokens}} tokens en los últimos 30 días.',
  offer: 'Devolverlos por partes',
  most: 'Máximo de tokens por resultado',
  mostHint:
    'Los clientes reciben los primeros elementos completos y siguen leyendo si lo necesitan. 0: siempre completo. Vacío: como el servidor.',
  ofServer: 'Máximo de tokens por resultado',
  ofServerHint: 'Los resultados mayores llegan por partes. 0: siempre completos. Vacío: según los ajustes.',
  ofGroupHint:
    'En los endpoints de este grupo. Los resultados mayores llegan por partes. 0: siempre completos. Vacío: como en el servidor.',
  ofHubHint:
    'Los resultados mayores llegan por partes; un servidor, un grupo o una herramienta puede tener su propio límite. Vacío: siempre completos.',
  context: 'Lo que leen los modelos',
  skills: 'Carpeta de skills',
  skillsHint:
    'En la máquina del hub. Cada carpeta con un SKILL.md se ofrece a todos los clientes de todos los endpoints.',
  code: 'Modo código',
  codeHint: 'Límites de una ejecución en /mcp/$code.',
  codeSeconds: 'Segundos',
  codeMemory: 'Memoria (MB)',
  codeCalls: 'Llamadas',
};

export const secrets: Texts['secrets'] = {
  title: 'Secretos en las llamadas',
  secretsIn: 'Secretos en los argumentos',
  secretsOut: 'Secretos en los resultados',
  hint: 'Tokens y claves que se reconocen por su forma.',
  allow: 'No se buscan',
  mask: 'Se ocultan',
  refuse: 'Se rechaza la llamada',
};
