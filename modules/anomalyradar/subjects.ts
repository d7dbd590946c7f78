import { Subject } from './subject.ts'

/** Models and users that are known at a time; each has 40 KB at the most. */
const most = 500
/** One with fewer calls gives way first: names that clients make up must not push out what was learned. */
const settled = 50

const keyOf = ({ by, provider = '', name }: Pick<Subject, 'by' | 'provider' | 'name'>): string =>
  by === 'user' ? `user ${name}` : `model ${provider}/${name}`

/** The models and users that the radar knows. */
export class Subjects {
  readonly #all = new Map<string, Subject>()
  readonly #users = new Map<string, Subject>()
  readonly #models = new Map<string, Map<string, Subject>>()
  /** Called with what is not known any more. */
  forgotten: (key: string) => void = () => {}

  get all(): ReadonlyMap<string, Subject> {
    return this.#all
  }

  user(name: string): Subject {
    return this.#users.get(name) ?? this.add(new Subject({ by: 'user', provider: undefined, name }))
  }

  model(provider: string, name: string): Subject {
    return this.#models.get(provider)?.get(name) ?? this.add(new Subject({ by: 'model', provider, name }))
  }

  /** Takes in one that was not known. */
  add(subject: Subject): Subject {
    if (this.#all.size >= most) this.forget(this.#leastKnown())
    const { by, provider = '', name } = subject
    this.#all.set(keyOf(subject), subject)
    if (by === 'user') this.#users.set(name, subject)
    else this.#models.set(provider, (this.#models.get(provider) ?? new Map()).set(name, subject))
    return subject
  }

  forget(subject: Subject): void {
    const { by, provider = '', name } = subject
    const key = keyOf(subject)
    this.#all.delete(key)
    if (by === 'user') this.#users.delete(name)
    else this.#models.get(provider)?.delete(name)
    this.forgotten(key)
  }

  #leastKnown(): Subject {
    const all = [...this.#all.values()]
    const young = all.filter(({ calls }) => calls < settled)
    return (young.length > 0 ? young : all).reduce((a, b) => (b.lastAt < a.lastAt ? b : a))
  }
}
