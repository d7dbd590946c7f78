/**
 * What an LRUCache takes to hold so many entries. It grows as they come: with `max`, room for all of them is written when the
 * cache is made, and a gateway that starts makes many caches that stay almost empty.
 */
export const atMost = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: one,
})

const one = (): number => 1
