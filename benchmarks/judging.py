"""How right an answer is, and how long the whole of it would have taken."""

from benchmarks.job import Job, Rows
from benchmarks.measuring import Measured
from benchmarks.table import Row
from benchmarks.truth import (
    TrueTexts,
    TrueVectors,
    close_prints,
    precision_of,
    recall_of,
    sampled,
)


class Judge:
    """Compares answers with the truth about a sample of the documents."""

    def __init__(self, truth: TrueTexts | TrueVectors, job: Job, count: int, sample: int) -> None:
        self.truth, self.job, self.count, self.sample = truth, job, count, sample
        self._wanted: dict[int, tuple[Rows, Rows]] = {}

    def sought(self) -> int:
        """Count the true pairs of the sample."""
        _, count = recall_of(self._pairs(self.count), *self._pairs(self.count), self.count)
        return count

    def row(self, title: str, measured: Measured) -> Row:
        """Give a contestant's figures."""
        answer = measured.answer
        if answer is None:
            return Row(title, measured.problem)
        done = self.count if answer.done is None else answer.done
        seconds, estimated = measured.seconds, ""
        if done < self.count:
            seconds = answer.whole(seconds, measured.stages, self.count)
            estimated = "about" if answer.squared else "at least"
        found = answer.first, answer.second
        recall, sought = recall_of(self._pairs(done), *found, self.count)
        own = None
        if measured.prints is not None:
            rows = sampled(done, self.sample, self.job.seed)
            close = close_prints(measured.prints, rows, self.job.options["distance"], done)
            own, _ = recall_of(close, *found, self.count)
        return Row(
            title,
            setting=answer.setting,
            seconds=seconds,
            estimated=estimated,
            done=done,
            cpu=measured.cpu,
            stages=measured.stages,
            per_second=self.count / seconds,
            peak=measured.peak,
            pairs=len(answer.first),
            recall=recall,
            sought=sought,
            precision=precision_of(self.truth.similarities(*found), self.job.threshold),
            own_recall=own,
        )

    def _pairs(self, done: int) -> tuple[Rows, Rows]:
        if done not in self._wanted:
            rows = sampled(done, self.sample, self.job.seed)
            self._wanted[done] = self.truth.pairs(rows, self.job.threshold, done)
        return self._wanted[done]
