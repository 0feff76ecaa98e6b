"""How right an answer is, and how long the whole of it would have taken."""

from benchmarks.job import Job
from benchmarks.measuring import Measured
from benchmarks.table import Row
from benchmarks.truth import Truth, close_prints, recall_of, sampled


class Judge:
    """Compares answers with the truth about a sample of the documents."""

    def __init__(self, truth: Truth, job: Job, count: int, size: int = 0, sample: int = 0) -> None:
        self.truth, self.job, self.count = truth, job, count
        self.size, self.sample = size, sample

    def sought(self) -> int:
        """Count the true pairs of the sample."""
        return len(self.truth.wanted(self.count).first)

    def row(self, title: str, measured: Measured) -> Row:
        """Give a contestant's figures."""
        answer = measured.answer
        if answer is None:
            return Row(title, measured.problem)
        given = measured.documents or self.count
        done = given if answer.done is None else answer.done
        seconds, estimated = measured.seconds, ""
        if done < given:
            seconds = answer.whole(seconds, measured.stages, self.count)
            estimated = "about" if answer.squared else "at least"
        elif done < self.count:
            seconds, estimated = measured.expected(self.count), "at least"
        row = Row(
            title,
            problem=measured.problem,
            setting=answer.setting,
            seconds=seconds,
            estimated=estimated,
            done=done,
            reached=measured.seconds,
            cpu=measured.cpu,
            stages=measured.stages,
            per_second=self.count / seconds,
            megabytes=self.size / seconds / 1e6,
            peak=measured.peak,
            pairs=len(answer.first),
        )
        if answer.reads_only:
            return row
        found = answer.first, answer.second
        wanted = self.truth.wanted(done)
        row.recall, row.sought = wanted.recall(*found, self.count), len(wanted.first)
        row.precision, row.checked = self.truth.precision(*found)
        if measured.prints is not None:
            rows = sampled(done, self.sample, self.job.seed)
            close = close_prints(measured.prints, rows, self.job.options["distance"], done)
            row.own_recall, _ = recall_of(close, *found, self.count)
        return row
