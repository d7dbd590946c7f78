import { z } from 'zod'
import type { OnceContext } from '#kernel'
import type { Library } from '../library/library.ts'
import { idParam, path } from './collections.ts'

const passage = z.object({
  document_id: z.string(),
  title: z.string(),
  passage: z.int().meta({ description: 'Its place in the document, from 0.' }),
  path: z.array(z.string()).meta({ description: 'The headings or fields above it.' }),
  text: z.string(),
  score: z.number().meta({ description: 'Comparable within one search only.' }),
})

/** Shows what a question finds, without a call. */
export function searchRoute({ route }: Pick<OnceContext, 'route'>, library: Library): void {
  route({
    method: 'post',
    path: `${path}/{id}/search`,
    access: 'any',
    summary: 'The passages of a collection that a question finds by its words, best first',
    reads: true,
    params: z.strictObject({ id: idParam }),
    body: z.strictObject({
      query: z.string().min(1).max(4000),
      top_k: z.int().min(1).max(50).default(5).meta({ description: 'How many passages at the most.' }),
    }),
    returns: z.object({ passages: z.array(passage) }),
    async handle({ params: { id }, body: { query, top_k }, principal }) {
      const found = await library.finder.search(library.find(id, principal!), query, top_k)
      return {
        passages: found.map(({ document, chunk, ...rest }) => ({
          ...rest,
          document_id: document,
          passage: chunk,
          path: [...rest.path],
        })),
      }
    },
  })
}
