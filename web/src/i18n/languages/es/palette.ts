import type { Texts } from '../../texts.ts';

export const palette: Texts['palette'] = {
  title: 'Buscar en todo',
  open: 'Buscar…',
  placeholder: 'Servidores, herramientas, grupos, páginas, acciones',
  found_one: '{{number}} resultado',
  found_many: '{{number}} de resultados',
  found_other: '{{number}} resultados',
  kinds: {
    page: 'Página',
    action: 'Acción',
    server: 'Servidor',
    group: 'Grupo',
    tool: 'Herramienta',
    key: 'Clave',
    user: 'Usuario',
  },
  reconnect: 'Reconectar {{name}}',
  paste: 'Añadir servidores pegando una configuración',
  theme: 'Cambiar de tema: {{theme}}',
  keys: 'Atajos de teclado',
  keysText: 'No actúan mientras escribes en un campo o hay un diálogo abierto.',
  everywhere: 'En todas las páginas',
  pages: 'Ir a una página',
  slash: 'Buscar en esta página',
  escape: 'Cerrar, o vaciar la búsqueda',
  records: 'Llamada siguiente y anterior, mientras hay una abierta',
};
