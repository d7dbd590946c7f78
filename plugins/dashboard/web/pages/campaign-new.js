import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['name', 'purpose', 'target', 'attack_types', 'strategies', 'budget']

/** A form for a new campaign, which attacks nothing until it hunts. */
export const NewCampaign = () => html`
  <${Head} title="New campaign" trail=${[['/redteam', 'Red team']]} />
  <${OperationForm} operation="POST /api/redteam/campaigns" fields=${fields} submit="Add" done=${(/** @type {any} */ { id }) => go(`/redteam/${id}`)} />
`
