/**
 * Terms of each category, in English, German, French and Spanish. A term is found as a whole word in any letter case, `*` at its
 * end stands for any ending, and a space for some white space. The lists are short: they have words that hardly ever mean
 * anything else, so that lessons and news pass.
 */
export const builtIn = {
  sexual: [
    ...[
      'porn*',
      'pr0n',
      'xxx',
      'hentai',
      'nudes',
      'sexting',
      'striptease',
      'masturbat*',
      'orgasm*',
      'blowjob*',
    ],
    ...['erotica', 'erotic story', 'erotic stories', 'erotik', 'erotische geschichte*', 'masturbier*'],
    ...[
      'histoire érotique',
      'histoires érotiques',
      'masturber',
      'relato erótico',
      'relatos eróticos',
      'masturbar*',
    ],
  ],
  violence: [
    ...[
      'gore',
      'snuff film*',
      'beheading*',
      'disembowel*',
      'dismember*',
      'torture porn',
      'how to kill',
      'kill someone',
    ],
    ...['enthaupt*', 'zerstückel*', 'wie tötet man', 'jemanden töten', 'jemanden umbringen'],
    ...['décapit*', 'démembr*', 'comment tuer', 'tuer quelqu’un', "tuer quelqu'un"],
    ...['decapita*', 'descuartiza*', 'cómo matar', 'matar a alguien'],
  ],
  self_harm: [
    ...[
      'kill myself',
      'killing myself',
      'cut myself',
      'cutting myself',
      'suicide method*',
      'how to commit suicide',
    ],
    ...[
      'mich umbringen',
      'mich ritzen',
      'selbstmordmethode*',
      'suizidmethode*',
      'me suicider',
      'me scarifier',
    ],
    ...[
      'méthode de suicide',
      'méthodes de suicide',
      'suicidarme',
      'cortarme las venas',
      'métodos de suicidio',
    ],
  ],
  drugs: [
    ...[
      'cocaine',
      'heroin',
      'crystal meth',
      'methamphetamine*',
      'lsd',
      'mdma',
      'ecstasy pill*',
      'fentanyl',
      'get high',
    ],
    ...['kokain', 'ecstasy-pille*', 'crack rauchen', 'kiffen', 'cocaïne', 'héroïne', 'fumer un joint'],
    ...['cocaína', 'heroína', 'metanfetamina*', 'éxtasis en pastilla*', 'fumar un porro'],
  ],
  alcohol_tobacco: [
    ...[
      'vodka',
      'whisky',
      'whiskey',
      'tequila',
      'get drunk',
      'getting drunk',
      'cigarette*',
      'vaping',
      'vape*',
    ],
    ...['wodka', 'schnaps', 'betrinken', 'zigarette*', 'se soûler', 'cigarillo*'],
    ...['emborracharme', 'emborracharse', 'cigarrillo*', 'vapear'],
  ],
  gambling: [
    ...['online casino*', 'slot machine*', 'sports betting', 'place a bet', 'blackjack', 'roulette'],
    ...[
      'spielautomat*',
      'sportwette*',
      'glücksspiel*',
      'online-casino*',
      'machine à sous',
      'machines à sous',
    ],
    ...['paris sportifs', 'jeux d’argent', "jeux d'argent", 'tragaperras', 'apuestas deportivas', 'ruleta'],
  ],
  weapons: [
    ...['pipe bomb*', 'build a bomb', 'make a bomb', 'molotov*', 'ghost gun*', 'buy a gun', 'silencer'],
    ...['rohrbombe*', 'bombe bauen', 'waffe kaufen', 'fabriquer une bombe', 'acheter une arme'],
    ...['fabricar una bomba', 'hacer una bomba', 'comprar una pistola'],
  ],
  profanity: [
    ...['fuck*', 'motherfuck*', 'shit', 'bullshit', 'asshole*', 'bitch*', 'cunt*'],
    ...['scheiß*', 'scheiss*', 'arschloch', 'arschlöcher', 'fick dich', 'hurensohn', 'fotze*'],
    ...[
      'putain',
      'merde',
      'connard*',
      'connasse*',
      'enculé*',
      'mierda',
      'gilipollas',
      'hijo de puta',
      'joder',
    ],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

export const builtInCategories = Object.keys(builtIn)

/** Characters of the longest ending that `*` stands for. */
const longestEnding = 24
/** Characters of white space that a space in a term stands for. */
const longestSpace = 4

/** The expression that finds any of the terms; longer ones first, so that a phrase wins over its beginning. */
export function termPattern(terms: readonly string[]): RegExp {
  const parts = terms
    .toSorted((a, b) => b.length - a.length)
    .map((term) =>
      term
        .replace(/\*$/, '')
        .replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
        .replaceAll(/\s+/g, `\\s{1,${longestSpace}}`)
        .concat(term.endsWith('*') ? `[\\p{L}\\p{M}]{0,${longestEnding}}` : ''),
    )
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})(?![\\p{L}\\p{N}])`, 'giu')
}

/** Characters of the longest text that a term finds. */
export const longestOf = (term: string): number =>
  term.length * longestSpace + (term.endsWith('*') ? longestEnding : 0)

export const wordsIn = (term: string): number => term.split(/\s+/).length
