using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Protocols.Transfers;
using QuickSilver.Transfers;

namespace QuickSilver.Tests.Transfers;

public sealed class TransferTakeTests
{
    private static readonly NodeKey First = new(1, 1);
    private static readonly NodeKey Second = new(2, 1);
    private static readonly TimeSpan OneSecond = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(100);

    private readonly Wire _wire = new();
    private readonly Taker _taker = new();
    private readonly TransferTake _take;

    public TransferTakeTests()
    {
        _taker.Donors.AddRange([First, Second]);
        _take = new TransferTake(_wire, [7, 8], from: 10, "the log", _taker);
    }

    [Fact]
    public void The_first_donor_is_asked_for_the_subject_from_the_position()
    {
        _take.Begin(_wire.Now);
        Assert.Equal(new Sent(First, TransferLetterKind.Pull, 1, 10, [7, 8]), Assert.Single(_wire.Sent));
        Assert.Equal(First, _take.Donor);
    }

    [Fact]
    public void Chunks_and_the_end_go_to_the_taker()
    {
        _take.Begin(_wire.Now);
        Chunk(0, through: 20, bytes: 3);
        Chunk(1, through: 25, bytes: 1);
        End(2);
        Assert.Equal(["chunk 3 to 20", "chunk 1 to 25", "end"], _taker.Calls);
        Assert.True(_take.IsEnded);
        Assert.Equal(25, _take.Through);
        Assert.Equal([_take], _wire.Places);
    }

    [Fact]
    public void The_next_donor_continues_where_a_silent_one_stopped()
    {
        _take.Begin(_wire.Now);
        Chunk(0, through: 20);
        Pass(TransferTake.SilenceLimit - Moment);
        Assert.Equal(First, _take.Donor);
        Pass(Moment);
        Assert.Equal("failed 1: Silent", _taker.Calls[^1]);
        Assert.Equal(TransferLetterKind.Stop, _wire.Sent[^1].Kind);

        Assert.True(_take.IsQueued);
        _take.Begin(_wire.Now);
        Assert.Equal(new Sent(Second, TransferLetterKind.Pull, 2, 20, [7, 8]), _wire.Sent[^1]);
        Assert.False(_take.IsMeant(First, 1));
        Chunk(0, through: 30);
        End(1);
        Assert.Equal(30, _take.Through);
    }

    [Theory]
    [InlineData(2, 30)]
    [InlineData(0, 30)]
    [InlineData(1, 20)]
    [InlineData(1, 19)]
    public void A_chunk_after_a_gap_and_a_position_that_does_not_ascend_are_refused(int chunks, long through)
    {
        _take.Begin(_wire.Now);
        Chunk(0, through: 20);
        Chunk(chunks, through);
        Assert.Equal(["chunk 1 to 20", "failed 1: Refused"], _taker.Calls);
        Assert.Equal(20, _take.Through);
        Assert.Equal(TransferLetterKind.Stop, _wire.Sent[^1].Kind);
    }

    [Fact]
    public void An_end_after_a_gap_is_no_end()
    {
        _take.Begin(_wire.Now);
        Chunk(0, through: 20);
        End(2);
        Assert.Equal("failed 1: Refused", _taker.Calls[^1]);
        Assert.False(_take.IsEnded);
    }

    [Fact]
    public void A_chunk_that_the_taker_refuses_is_asked_of_the_next_donor()
    {
        _take.Begin(_wire.Now);
        _taker.Step = TransferStep.Refuse;
        Chunk(0, through: 20);
        _take.Begin(_wire.Now);
        Assert.Equal(new Sent(Second, TransferLetterKind.Pull, 2, 10, [7, 8]), _wire.Sent[^1]);
    }

    [Theory]
    [InlineData((int)TransferFailure.Busy)]
    [InlineData((int)TransferFailure.Absent)]
    [InlineData((int)TransferFailure.Unreadable)]
    public void A_donor_that_declines_is_not_asked_again_in_this_round(int failure)
    {
        _take.Begin(_wire.Now);
        Letter(TransferLetterKind.Declined, 0, failure);
        Assert.Equal($"failed 1: {(TransferFailure)failure}", _taker.Calls[^1]);
        _take.Begin(_wire.Now);
        Assert.Equal(Second, _take.Donor);
    }

    [Fact]
    public void A_donor_that_left_and_one_that_letters_do_not_reach_are_gone()
    {
        _take.Begin(_wire.Now);
        _wire.Members.Remove(First);
        Pass(Moment);
        Assert.Equal("failed 1: Gone", _taker.Calls[^1]);

        _take.Begin(_wire.Now);
        _take.OnUndelivered(First, _wire.Now);
        Assert.Equal(Second, _take.Donor);
        _take.OnUndelivered(Second, _wire.Now);
        Assert.Equal("failed 2: Gone", _taker.Calls[^1]);
        Assert.Null(_take.Donor);
    }

    [Fact]
    public void A_donor_that_is_no_member_is_passed_over()
    {
        _wire.Members.Remove(First);
        _take.Begin(_wire.Now);
        Assert.Equal(Second, _take.Donor);
    }

    [Fact]
    public void Each_quarter_of_the_window_is_confirmed()
    {
        _take.Begin(_wire.Now);
        for (int chunk = 0; chunk < 4; chunk++)
        {
            Chunk(chunk, through: 11 + chunk, bytes: TransferLetters.ChunkBytes);
        }

        var confirmed = _wire.Sent.Where(static sent => sent.Kind == TransferLetterKind.Taken).Select(static sent => sent.Value);
        Assert.Equal([2L * TransferLetters.ChunkBytes, 4L * TransferLetters.ChunkBytes], confirmed);
    }

    [Fact]
    public void While_the_taker_has_no_room_the_donor_gets_signs_and_is_not_silent()
    {
        _take.Begin(_wire.Now);
        _taker.Step = TransferStep.Wait;
        Chunk(0, through: 20, bytes: TransferLetters.ChunkBytes);
        Chunk(1, through: 21, bytes: TransferLetters.ChunkBytes);
        _wire.Sent.Clear();
        Pass(OneSecond * 10);
        Assert.Equal(First, _take.Donor);
        Assert.Equal(10, _wire.Sent.Count);
        Assert.All(_wire.Sent, static sent => Assert.Equal((TransferLetterKind.Taken, 0), (sent.Kind, sent.Value)));
        Assert.Equal("the reader of this node", _take.WaitsFor);

        _take.Continue();
        Assert.Equal(2L * TransferLetters.ChunkBytes, _wire.Sent[^1].Value);
        Assert.Equal("node 1", _take.WaitsFor);
        Pass(TransferTake.SilenceLimit);
        Assert.Equal("failed 1: Silent", _taker.Calls[^1]);
    }

    [Fact]
    public void Letters_without_room_are_sent_later()
    {
        _wire.HasRoom = false;
        _take.Begin(_wire.Now);
        Pass(Moment);
        _wire.HasRoom = true;
        Pass(Moment);
        Assert.Equal(TransferLetterKind.Pull, Assert.Single(_wire.Sent).Kind);

        _wire.HasRoom = false;
        Chunk(0, through: 20, bytes: TransferLetters.ChunkBytes);
        Chunk(1, through: 21, bytes: TransferLetters.ChunkBytes);
        _wire.HasRoom = true;
        Pass(Moment);
        Assert.Equal(2L * TransferLetters.ChunkBytes, _wire.Sent[^1].Value);
    }

    [Fact]
    public void After_each_donor_was_asked_in_vain_the_donors_are_asked_for_again_after_pauses_that_grow()
    {
        var pauses = new List<TimeSpan>();
        for (int round = 0; round < 12; round++)
        {
            _take.Begin(_wire.Now);
            _take.OnUndelivered(First, _wire.Now);
            _take.Begin(_wire.Now);
            _take.OnUndelivered(Second, _wire.Now);
            Assert.False(_take.IsQueued);
            Assert.Equal("a node that has it", _take.WaitsFor);
            var since = _wire.Now;
            while (!_take.IsQueued)
            {
                Pass(Moment);
            }

            pauses.Add(_wire.Now - since);
        }

        Assert.Equal(12, _taker.Rounds);
        Assert.Equal(Moment, pauses[0]);
        Assert.Equal(pauses.Order(), pauses);
        Assert.Equal(TimeSpan.FromSeconds(5), pauses[^1]);
    }

    [Fact]
    public void A_transfer_without_donors_waits_until_there_is_one()
    {
        _taker.Donors.Clear();
        _take.Begin(_wire.Now);
        Assert.Null(_take.Donor);
        _taker.Donors.Add(Second);
        Pass(OneSecond);
        _take.Begin(_wire.Now);
        Assert.Equal(Second, _take.Donor);
    }

    [Fact]
    public void Letters_of_other_nodes_and_of_earlier_requests_are_not_meant()
    {
        _take.Begin(_wire.Now);
        Assert.True(_take.IsMeant(First, 1));
        Assert.False(_take.IsMeant(Second, 1));
        Assert.False(_take.IsMeant(First, 2));
    }

    [Fact]
    public void A_cancelled_transfer_stops_its_donor_and_calls_its_taker_no_more()
    {
        _take.Begin(_wire.Now);
        Chunk(0, through: 20);
        _take.Cancel();
        _take.Cancel();
        Assert.Equal(new Sent(First, TransferLetterKind.Stop, 1, 0, []), _wire.Sent[^1]);
        Assert.Equal([_take], _wire.Places);
        Assert.False(_take.IsMeant(First, 1));
        Assert.Single(_taker.Calls);
    }

    [Theory]
    [InlineData((int)TransferStep.Take)]
    [InlineData((int)TransferStep.Wait)]
    [InlineData((int)TransferStep.Refuse)]
    public void A_taker_can_cancel_while_it_takes(int step)
    {
        _take.Begin(_wire.Now);
        _taker.Step = (TransferStep)step;
        _taker.OnCall = _take.Cancel;
        Chunk(0, through: 20);
        Assert.True(_take.IsEnded);
        Assert.Equal([_take], _wire.Places);
        Assert.Equal(10, _take.Through);
    }

    [Fact]
    public void A_taker_can_cancel_when_a_donor_fails()
    {
        _take.Begin(_wire.Now);
        _taker.OnCall = _take.Cancel;
        _take.OnUndelivered(First, _wire.Now);
        Assert.True(_take.IsEnded);
        Assert.False(_take.IsQueued);
    }

    private void Chunk(int chunks, long through, int bytes = 1) => Letter(TransferLetterKind.Chunk, chunks, through, new byte[bytes]);

    private void End(int chunks) => Letter(TransferLetterKind.End, chunks, 0);

    private void Letter(TransferLetterKind kind, int chunks, long value, byte[]? body = null) =>
        _take.OnLetter(new TransferLetter { Kind = kind, Number = 1, Chunks = chunks, Value = value, Body = body }, _wire.Now);

    private void Pass(TimeSpan time)
    {
        for (var end = _wire.Now + time; _wire.Now < end;)
        {
            _wire.Now += Moment;
            _take.OnTick(_wire.Now);
        }
    }

    private sealed record Sent(NodeKey To, TransferLetterKind Kind, long Number, long Value, byte[] Body)
    {
        public bool Equals(Sent? other) => other is not null
            && (To, Kind, Number, Value) == (other.To, other.Kind, other.Number, other.Value)
            && Body.AsSpan().SequenceEqual(other.Body);

        public override int GetHashCode() => HashCode.Combine(To, Kind, Number, Value);
    }

    private sealed class Wire : ITransferWire
    {
        private long _number;

        public List<Sent> Sent { get; } = [];

        public List<TransferTake> Places { get; } = [];

        public HashSet<NodeKey> Members { get; } = [First, Second];

        public bool HasRoom { get; set; } = true;

        public TimeSpan Now { get; set; }

        public long NextNumber() => ++_number;

        public bool IsMember(NodeKey node) => Members.Contains(node);

        public string Named(NodeKey node) => $"{node.Id}";

        public bool TrySend(NodeKey to, TransferLetterKind kind, long number, long value, ReadOnlySpan<byte> body)
        {
            if (HasRoom)
            {
                Sent.Add(new Sent(to, kind, number, value, body.ToArray()));
            }

            return HasRoom;
        }

        public void OnPlace(TransferTake take) => Places.Add(take);
    }

    private sealed class Taker : ITransferTaker
    {
        public List<NodeKey> Donors { get; } = [];

        public List<string> Calls { get; } = [];

        public int Rounds { get; private set; }

        public TransferStep Step { get; set; }

        public Action? OnCall { get; set; }

        public void AddDonors(List<NodeKey> donors)
        {
            Rounds++;
            donors.AddRange(Donors);
        }

        public TransferStep OnChunk(NodeKey donor, ReadOnlySpan<byte> chunk, long through)
        {
            Call($"chunk {chunk.Length} to {through}");
            return Step;
        }

        public void OnEnd(NodeKey donor) => Call("end");

        public void OnFailed(NodeKey donor, TransferFailure failure) => Call($"failed {donor.Id}: {failure}");

        private void Call(string what)
        {
            Calls.Add(what);
            OnCall?.Invoke();
        }
    }
}
