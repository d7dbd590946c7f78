import { z } from 'zod'
import type { Store } from '#kernel'

/** Makes a question to the store that costs next to nothing: whether it answers a read. */
export function storeProbe(store: Store): () => Promise<boolean> {
  const rows = store.collection('probe', { schema: z.object({}) })
  return () =>
    rows.get('probe').then(
      () => true,
      () => false,
    )
}
