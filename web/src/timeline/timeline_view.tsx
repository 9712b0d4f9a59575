// SPDX-License-Identifier: MIT
// The timeline as a part of the page: overview, names of the threads with what can be done to them, and the canvas.
//
// Why: names and buttons are DOM, so that they can be read, focused and pressed; what moves is drawn.
// Invariant: only the names in view are in the document, however many threads there are.
import { useEffect, useRef, useState } from 'preact/hooks';
import { store, useStore } from '../store.ts';
import { countText } from '../units.ts';
import { threadShown } from './hit.ts';
import { Input } from './input.ts';
import { moveThread, type Lane } from './layout.ts';
import { Overview } from './overview.tsx';
import { CURVE, RULER, type CounterCurve } from './scene.ts';
import { Timeline } from './timeline.ts';

const toggled = (list: number[], id: number): number[] => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id]);

function ThreadButtons({ timeline, lane }: { timeline: Timeline; lane: Lane }) {
  const { id } = lane.thread, { pinned, hidden } = store.state;
  const move = (by: number): void =>
    store.change({ order: moveThread(timeline.scene.lanes.map((one) => one.thread), id, by) });
  const isPinned = pinned.includes(id), name = lane.thread.name || String(lane.thread.tid);
  return (
    <span class="thread-buttons">
      <button title="move up" aria-label={`move ${name} up`} onClick={() => move(-1)}>↑</button>
      <button title="move down" aria-label={`move ${name} down`} onClick={() => move(1)}>↓</button>
      <button title={isPinned ? 'unpin' : 'pin to the top'} aria-label={`pin ${name}`} aria-pressed={isPinned}
        onClick={() => store.change({ pinned: toggled(pinned, id) })}>⤒</button>
      <button title="hide" aria-label={`hide ${name}`} onClick={() => store.change({ hidden: [...hidden, id] })}>×</button>
      {(lane.deeper > 0 || timeline.opened.has(id)) && (
        <button title="show more or fewer depths" aria-label={`depths of ${name}`} aria-expanded={timeline.opened.has(id)}
          onClick={() => timeline.toggleDepths(id)}>{lane.deeper > 0 ? `+${countText(lane.deeper)}` : '−'}</button>
      )}
    </span>
  );
}

function ThreadLabel({ timeline, lane }: { timeline: Timeline; lane: Lane }) {
  const { thread } = lane, leftOut = timeline.scene.tracks.get(thread.id)?.leftOut ?? 0, isSelected = store.selection().threads?.includes(thread.id) ?? false;
  return (
    <div class={`thread${isSelected ? ' selected' : ''}`} style={{ top: `${timeline.scene.y(lane)}px`, height: `${lane.height}px` }}>
      <button class="name" title={`${thread.name} · thread ${thread.tid} of process ${thread.pid}: only this thread; with Shift, one more or less`}
        onPointerEnter={() => store.show({ hovered: threadShown(thread) })}
        aria-pressed={isSelected}
        onClick={(event) => (event.shiftKey || event.ctrlKey || event.metaKey ? store.toggleThread(thread.id) : store.addCrumb({ kind: 'thread', ids: [thread.id] }))}>{thread.name || thread.tid}</button>
      {leftOut > 0 && <span class="bad left-out" title="there was no room for them in the server's memory">{countText(leftOut, 'call')} left out</span>}
      <ThreadButtons timeline={timeline} lane={lane} />
    </div>
  );
}

// A curve that was chosen can be taken away here.
function CurveLabel({ curve: { title, of } }: { curve: CounterCurve }) {
  const remove = (): void => store.change({ curves: store.state.curves.filter((one) => one.point !== of!.point || one.argument !== of!.argument) }, true);
  return (
    <div style={{ height: `${CURVE}px` }} class="curve-label" title={title}>
      {of && <button aria-label={`take away the curve of ${title}`} onClick={remove}>×</button>}
      <span>{title}</span>
    </div>
  );
}

function Labels({ timeline }: { timeline: Timeline }) {
  const { hidden } = store.state, { scene } = timeline;
  return (
    <>
      {timeline.visibleLanes().map((lane) => <ThreadLabel key={lane.thread.id} timeline={timeline} lane={lane} />)}
      <div class="head-labels" style={{ height: `${scene.head}px` }}>
        <div style={{ height: `${RULER}px` }}>
          {hidden.length > 0 && <button onClick={() => store.change({ hidden: [] })}>show {hidden.length} hidden</button>}
        </div>
        {scene.curves.map((curve) => <CurveLabel key={curve.title} curve={curve} />)}
      </div>
    </>
  );
}

// Times of frames, asked for by ?fps in the address.
function FrameTimes({ timeline }: { timeline: Timeline }) {
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => setText(timeline.frames.text()), 250);
    return () => clearInterval(timer);
  }, [timeline]);
  return <output class="fps">{text}</output>;
}

export function TimelineView() {
  useStore();
  const canvas = useRef<HTMLCanvasElement>(null), scroller = useRef<HTMLDivElement>(null), labels = useRef<HTMLDivElement>(null);
  const drawn = useRef<() => void>(() => {});
  const [timeline, setTimeline] = useState<Timeline>();
  const [, again] = useState(0);
  useEffect(() => {
    const created = new Timeline(store, canvas.current!, scroller.current!, () => {
      again((n) => n + 1);
      drawn.current();
    });
    const input = new Input(created, canvas.current!, scroller.current!);
    setTimeline(created);
    return () => {
      input.end();
      created.end();
    };
  }, []);
  const last = timeline?.scene.lanes.at(-1);
  const height = (timeline?.scene.head ?? 0) + (last ? last.top + last.height : 0);
  const wheel = (event: WheelEvent): void => {
    scroller.current!.scrollTop += event.deltaY;
  };
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="corner">overview</div>
      {timeline ? <Overview timeline={timeline} drawn={drawn} /> : <div class="overview" />}
      <div class="labels" ref={labels} onWheel={wheel}>{timeline && <Labels timeline={timeline} />}</div>
      <div class="scroller" ref={scroller} onScroll={() => timeline?.scrolled()} tabIndex={-1}>
        <div class="content" style={{ height: `${height}px` }}>
          <canvas ref={canvas} class="lanes" tabIndex={0} role="application" aria-roledescription="timeline"
            aria-label={timeline?.description() ?? 'Timeline'} />
        </div>
      </div>
      {timeline && new URLSearchParams(location.search).has('fps') && <FrameTimes timeline={timeline} />}
    </section>
  );
}
