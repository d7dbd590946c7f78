import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['slug', 'name', 'version', 'pack_type', 'content', 'description']

/** A form that publishes a pack with its first version. */
export const NewPack = () => html`
  <${Head} title="Publish a pack" trail=${[['/packs', 'Packs']]} />
  <${OperationForm} operation="POST /api/exchange/packs" fields=${fields} submit="Publish" done=${(/** @type {any} */ { slug }) => go(`/packs/${slug}`)} />
`
