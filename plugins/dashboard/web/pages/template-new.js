import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['slug', 'name', 'content', 'variables', 'model']

/** A form for a new template with its first version. */
export const NewTemplate = () => html`
  <${Head} title="New template" trail=${[['/templates', 'Templates']]} />
  <${OperationForm} operation="POST /api/studio/templates" fields=${fields} submit="Add" done=${(/** @type {any} */ { slug }) => go(`/templates/${slug}`)} />
`
