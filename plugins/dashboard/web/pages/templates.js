import { column, link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { placeOf } from '../router.js'

/** The prompt templates that the caller may see. */
export const Templates = listPage({
  at: '/templates',
  title: 'Templates',
  path: '/api/studio/templates',
  items: 'templates',
  label: 'Templates',
  empty: 'There are no templates.',
  create: ['/templates/new', 'New template'],
  filters: [
    { name: 'tag', label: 'Tag' },
    { name: 'status', label: 'Status', choices: ['draft', 'active', 'archived'] },
  ],
  columns: [
    link('Name', 'slug', ({ slug, user_id }) => placeOf(`/templates/${slug}`, user_id)),
    column('Called', 'name'),
    column('Type', 'type'),
    state('Status', 'status'),
    number('Version', 'current_version'),
    column('Tags', 'tags'),
    column('Seen by', 'visibility'),
    time('Changed', 'updated_at'),
  ],
})
