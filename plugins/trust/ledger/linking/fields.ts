/** The numbers that a field has: where it begins, where its name ends, where it ends, and the first and last piece of its value. */
const width = 5
const nameEndAt = 1
const endAt = 2
const firstAt = 3
const lastAt = 4

/** So few fields are sorted faster here than by the function for many. */
const few = 16

/** The fields of the objects of some JSON that are open, those of the innermost behind the others. */
export class Fields {
  #table = new Int32Array(64 * width)
  /** The fields by their names, as far as they have been sorted. */
  #order = new Int32Array(64)
  #bytes: Buffer = Buffer.alloc(0)
  #count = 0

  clear(bytes: Buffer): void {
    this.#bytes = bytes
    this.#count = 0
  }

  get count(): number {
    return this.#count
  }

  /** Adds a field by where it and its name are. Returns its place. */
  add(start: number, nameEnd: number): number {
    const field = this.#count++
    if (this.#count * width > this.#table.length) this.#grow()
    this.#table[field * width] = start
    this.#table[field * width + nameEndAt] = nameEnd
    return field
  }

  /** Tells where a field ends, and which pieces its value has. */
  end(field: number, end: number, first: number, last: number): void {
    this.#table[field * width + endAt] = end
    this.#table[field * width + firstAt] = first
    this.#table[field * width + lastAt] = last
  }

  /** Forgets the fields from this one on. */
  cut(field: number): void {
    this.#count = field
  }

  startOf(field: number): number {
    return this.#table[field * width]!
  }

  nameEndOf(field: number): number {
    return this.#table[field * width + nameEndAt]!
  }

  endOf(field: number): number {
    return this.#table[field * width + endAt]!
  }

  firstOf(field: number): number {
    return this.#table[field * width + firstAt]!
  }

  lastOf(field: number): number {
    return this.#table[field * width + lastAt]!
  }

  /** Orders two fields by their names, which are in ASCII. */
  compare(a: number, b: number): number {
    const bytes = this.#bytes
    const startA = this.startOf(a)
    const startB = this.startOf(b)
    const lengthA = this.nameEndOf(a) - startA
    const lengthB = this.nameEndOf(b) - startB
    // Without their closing quotes, before which a blank and an exclamation mark would come.
    const length = Math.min(lengthA, lengthB) - 1
    for (let n = 1; n < length; n++) {
      const difference = bytes[startA + n]! - bytes[startB + n]!
      if (difference !== 0) return difference
    }
    return lengthA - lengthB
  }

  /** Sorts the fields from this one on, where `at` finds them then. False if two have the same name. */
  sort(first: number): boolean {
    const order = this.#order
    for (let field = first; field < this.#count; field++) order[field] = field
    if (this.#count - first > few) order.subarray(first, this.#count).sort((a, b) => this.compare(a, b))
    else this.#insert(first)
    for (let n = first + 1; n < this.#count; n++)
      if (this.compare(order[n - 1]!, order[n]!) === 0) return false
    return true
  }

  /** The field that is at this place after they were sorted. */
  at(place: number): number {
    return this.#order[place]!
  }

  #insert(first: number): void {
    const order = this.#order
    for (let n = first + 1; n < this.#count; n++) {
      const field = order[n]!
      let place = n
      for (; place > first && this.compare(order[place - 1]!, field) > 0; place--)
        order[place] = order[place - 1]!
      order[place] = field
    }
  }

  #grow(): void {
    const table = new Int32Array(2 * this.#table.length)
    table.set(this.#table)
    this.#table = table
    const order = new Int32Array(2 * this.#order.length)
    order.set(this.#order)
    this.#order = order
  }
}
