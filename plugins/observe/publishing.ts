import type { Context } from '#kernel'
import { type Happening, publish, type Ring } from './ring.ts'

/** A happening as it comes from another thread. */
type Told = Omit<Happening, 'data'> & { readonly data: unknown }

/**
 * Adds happenings to the ring of the first thread, where live views are. Another thread builds each one at once, as it does not
 * know whether there is a viewer.
 */
export function liveFor(context: Context<unknown>, ring: Ring): (make: () => Happening) => void {
  const here = (make: () => Happening): void => publish(ring, make)
  const take = ({ data, ...rest }: Told): void => here(() => ({ ...rest, data: () => data }))
  const tell = context.inFirstThread('live', take)
  if (tell === take) return here
  return (make) => {
    const { data, ...rest } = make()
    tell({ ...rest, data: data() })
  }
}
