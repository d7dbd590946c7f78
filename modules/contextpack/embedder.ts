import type { Context } from '#kernel'
import { embed } from '#kit'
import type { Library } from './library/library.ts'
import { batch } from './library/vectors.ts'

/** How soon a changed document is looked at, and how long it waits after the model could not be asked. */
const soonMs = 1000
const laterMs = 60_000

/**
 * Has a model make the vectors of the documents of a collection of admins, at the expense of the gateway, soon after they came or changed. Until
 * then they are found by their words. Users' collections get none, as anybody could spend the gateway's money with one.
 */
export function keepEmbedded(
  context: Pick<Context<unknown>, 'complete' | 'every' | 'log' | 'own' | 'signal'>,
  library: Library,
  name: string,
  model: string,
): void {
  const { every, own, log, signal } = context
  const changed = new Set<string>()
  let all = true
  let after = 0
  own(library.embeddable.watch((id) => changed.add(id)))

  async function embedDocument(id: string): Promise<void> {
    const found = await library.embeddable.withCollection(id)
    if (!found) return library.vectors.deleteOf(id)
    const { collection, row } = found
    if (collection.name !== name || collection.user_id !== undefined) return
    const texts = await library.embeddable.passagesOf(row)
    for (let from = 0; from < texts.length; from += batch) {
      if (signal.aborted || (await library.vectors.has(row, model, from))) continue
      const vectors = await embed(context, model, texts.slice(from, from + batch), { signal })
      await library.vectors.put(collection, row, model, from, vectors)
    }
  }

  every(soonMs, async () => {
    if (Date.now() < after) return
    if (all) for (const id of await library.embeddable.idsOf(library.ofAdmins(name))) changed.add(id)
    all = false
    for (const id of changed) {
      changed.delete(id)
      try {
        await embedDocument(id)
      } catch (error) {
        changed.add(id)
        after = Date.now() + laterMs
        if (!signal.aborted)
          log.warn({ err: error }, 'documents could not be embedded; they are found by their words')
        return
      }
    }
  })
}
