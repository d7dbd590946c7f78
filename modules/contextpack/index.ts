import { z } from 'zod'
import { type Call, defineModule, TokenCounting } from '#kernel'
import { embed, messageTexts, messageTokens } from '#kit'
import { keepEmbedded } from './embedder.ts'
import { guarded } from './guarded.ts'
import { fitted, lastOfUser, placed } from './injection.ts'
import { CollectionIndex, type Passage } from './library/index-of-collection.ts'
import { Library } from './library/library.ts'
import { type CollectionRow, formats } from './library/rows.ts'
import { fused } from './ranking/fusion.ts'
import { collectionRoutes } from './routes/collections.ts'
import { documentRoutes } from './routes/documents.ts'
import { searchRoute } from './routes/search.ts'

/** Passages of each ranking that are merged. */
const candidates = 40
/** Characters of a question that are looked for. */
const longestQuestion = 4000

const document = z.strictObject({
  title: z
    .string()
    .min(1)
    .max(200)
    .meta({ title: 'Title', description: 'What passages of it are headed with.' }),
  format: z.enum(formats).default('text').meta({ title: 'Format', description: 'How the content is read.' }),
  content: z.string().min(1).max(20_000).meta({ title: 'Content', description: 'The text of the document.' }),
})

export default defineModule({
  settings: z.strictObject({
    collection: z.string().min(1).max(100).optional().meta({
      title: 'Collection',
      description:
        "The name of the collection that calls use: an admin's, else the caller's own, else one that the tenant shares.",
    }),
    documents: z.array(document).max(100).default([]).meta({
      title: 'Documents',
      description: 'Short documents that are searched too, such as those of service.yaml.',
    }),
    embedding_model: z.string().min(1).max(256).optional().meta({
      title: 'Embedding model',
      description:
        'A model that finds passages by their meaning too, in collections of admins. The gateway pays for documents, and callers for their questions.',
    }),
    min_similarity: z.number().min(0).max(1).default(0.3).meta({
      title: 'Similarity',
      description: 'How near a passage must be to the question to be found by its meaning, from 0 to 1.',
    }),
    top_k: z.int().min(1).max(20).default(5).meta({
      title: 'Passages',
      description: 'Passages that a call gets at the most.',
    }),
    budget_tokens: z.int().min(50).max(100_000).default(1500).meta({
      title: 'Budget',
      description: 'Tokens that the passages may take together, with what stands around them.',
    }),
    position: z.enum(['system', 'user']).default('system').meta({
      title: 'Position',
      description:
        'Where they stand: as a system message behind the others, or as a message in front of what the user said last.',
    }),
  }),

  async once(context) {
    const library = await Library.of(context)
    collectionRoutes(context, library)
    documentRoutes(context, library)
    searchRoute(context, library)
    return library
  },

  async setup(context, library) {
    const { id, settings, mode, log, find } = context
    const { collection, documents, embedding_model, min_similarity } = settings
    const { top_k, budget_tokens, position } = settings
    if (collection === undefined && documents.length === 0) return {}
    const own = await indexOf(documents)

    if (collection !== undefined && embedding_model !== undefined && mode === 'enforce') {
      keepEmbedded(context, library, collection, embedding_model)
    }

    /** The passages of a collection that are near a question; none where the model cannot be asked. */
    async function near(row: CollectionRow, question: string, call: Call): Promise<readonly Passage[]> {
      if (embedding_model === undefined || row.user_id !== undefined || mode === 'shadow') return []
      try {
        const [vector] = await embed(context, embedding_model, [question], { on: call, as: 'caller' })
        return await library.finder.near(row, embedding_model, vector!, {
          least: min_similarity,
          most: candidates,
        })
      } catch (error) {
        call.cancel.signal.throwIfAborted()
        log.warn({ err: error }, 'a question could not be embedded')
        call.trace.note(id, 'not_embedded')
        return []
      }
    }

    async function search(question: string, call: Call): Promise<readonly Passage[]> {
      const row = collection === undefined ? undefined : library.named(collection, call.principal)
      const lists = [own.search(question, candidates)]
      if (row)
        lists.push(await library.finder.search(row, question, candidates), [
          ...(await near(row, question, call)),
        ])
      return fused(lists, ({ document, chunk }) => `${document}/${chunk}`).map(({ item }) => item)
    }

    return {
      async request(call) {
        const { messages } = call.request
        if (call.operation !== 'chat' || !messages) return undefined
        const asked = messages[lastOfUser(messages)]
        const question = asked ? messageTexts(asked).join('\n').slice(0, longestQuestion) : ''
        if (question === '') return undefined
        const found = (await search(question, call)).slice(0, top_k)
        if (found.length === 0) return undefined
        const approved = await guarded(context, call, found, position)
        const kept_out = found.length - approved.length
        if (kept_out > 0) call.trace.note(id, 'kept_out', { passages: kept_out })
        const counted = await fitted(approved, position, budget_tokens, (message) =>
          messageTokens([message], call, find(TokenCounting)),
        )
        if (!counted) return undefined
        const sources = counted.passages.map(({ document, chunk }) => `${document}#${chunk}`)
        call.trace.note(id, 'added', { passages: sources.length, tokens: counted.tokens })
        call.trace.facts.contextpack = { sources, tokens: counted.tokens, kept_out }
        call.trace.header('X-Context-Sources', sources.join(', '))
        return call.withRequest({ messages: placed(call.request, counted.message, position) })
      },
    }
  },
})

/** The documents of the settings, named by their places. */
async function indexOf(documents: readonly z.infer<typeof document>[]): Promise<CollectionIndex> {
  const index = new CollectionIndex()
  for (const [at, { title, format, content }] of documents.entries()) {
    await index.put({ id: `setting_${at + 1}`, format, updated_at: '' }, { title, text: content })
  }
  return index
}
