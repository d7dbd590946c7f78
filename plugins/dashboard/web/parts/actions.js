import { html } from '../html.js'
import { useAction } from '../load.js'
import { Problem } from './notice.js'
import { SureButton } from './secret.js'

/**
 * What can be done with something: what it is called, what it does, and what is asked first where it cannot be undone.
 * @typedef {{ title: string, run: () => Promise<unknown>, sure?: string, main?: boolean }} Act
 */

/**
 * Buttons, of which one works at a time; `done` follows what succeeded, and what did not says why.
 * @param {{ of: readonly (Act | false | null | undefined)[], label?: string, done?: () => void }} props
 */
export function Actions({ of, label, done = () => {} }) {
  const { busy, error, run } = useAction()
  const act = (/** @type {Act} */ one) =>
    run(async () => {
      await one.run()
      done()
    })
  return html`
    <div class="row" role="group" aria-label=${label ?? 'Actions'}>
      ${of.map((one) => {
        if (!one) return null
        if (one.sure)
          return html`<${SureButton} key=${one.title} ask=${one.sure} disabled=${busy} onClick=${() => act(one)}>${one.title}<//>`
        return html`<button key=${one.title} type="button" class=${one.main ? undefined : 'quiet'} disabled=${busy} onClick=${() => act(one)}>${one.title}</button>`
      })}
      <${Problem} error=${error} />
    </div>
  `
}
