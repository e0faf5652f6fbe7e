/** The prepared stories, which the page and the documentation link to. */

export interface Prepared {
  readonly title: string;
  readonly about: string;
  /** The text as in an address; the page opens the story at its beginning. */
  readonly text: string;
}

export const PREPARED: readonly Prepared[] = [
  {
    title: "A session dies",
    about: "B waits between others and is killed. The server sends one event: to C, which was right behind B.",
    text: "lock/join-A,join-B,join-C,join-D,kill-B,kill-A,kill-A-unfair/0",
  },
  {
    title: "A paused holder",
    about: "A reads the stock and pauses. B gets the lock and sells. A goes on, and the shop refuses its fence.",
    text: "lock/join-A,join-B,look-A,pause-A,wait,look-B,sell-B,resume-A,sell-A/0",
  },
  {
    title: "A cut connection",
    about:
      "A's connection is cut, and A ends its grant by its own clock. B holds and pauses: it does not notice that C gets the lock.",
    text: "lock/join-A,join-B,join-C,cut-A,wait,pause-B,wait,resume-B,reconnect-A/0",
  },
  {
    title: "Everyone wakes",
    about: "Five contenders, and one release. The fair lock wakes one waiter, the unfair lock wakes all four.",
    text: "lock/join-A,join-B,join-C,join-D,join-E,release-A,release-A-unfair/0",
  },
  {
    title: "Readers and a writer",
    about: "Readers share the lock. A writer waits for those before it, and a reader behind it waits for the writer.",
    text: "read-write/join-A-reader,join-B-reader,join-C,join-D-reader,release-A,release-B,release-C/0",
  },
  {
    title: "A downgrade",
    about:
      "A writer becomes a reader and still holds. The readers behind it get the lock, and the writer D still waits.",
    text: "read-write/join-A,join-B-reader,join-C-reader,join-D,downgrade-A,release-A,release-B,release-C/0",
  },
  {
    title: "Permits",
    about: "A semaphore lets two contenders in. The third gets its permit when one of the two releases.",
    text: "semaphore-2/join-A,join-B,join-C,join-D,release-B,kill-A/0",
  },
  {
    title: "The shop oversells",
    about: "The same pause as above, but the shop does not check fences: it sells its only pair twice.",
    text: "lock/check-off,join-A,join-B,look-A,pause-A,wait,look-B,sell-B,resume-A,sell-A/0",
  },
];
