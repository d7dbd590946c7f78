import type { Arrangement, Generation } from '#kernel'

/** A generation with all that is known of protocols and providers to those who deliver calls. */
export const arrangementOf = (generation: Generation): Arrangement & Pick<Generation, 'entries'> =>
  generation as unknown as Arrangement & Pick<Generation, 'entries'>
