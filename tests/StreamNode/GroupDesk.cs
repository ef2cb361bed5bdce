using System.Buffers.Binary;
using System.Security.Cryptography;
using QuickSilver;
using QuickSilver.Groups;

namespace StreamNode;

// Membership in one group with total order. It writes all that the group delivers to a log, a line for each event, and all that it sends to
// another. A message begins with its number, from 1, and has drawn bytes. A line of a message has its digest, so equal logs are equal
// messages in equal order.
internal sealed class GroupDesk : IDisposable
{
    private const int PoolBytes = 1 << 20;
    private const int DigestBytes = 8;

    private readonly Lock _turn = new();
    private readonly IGroup<ReadOnlyMemory<byte>> _group;
    private readonly TextWriter _log;
    private readonly TextWriter _sentLog;
    private readonly Dictionary<NodeId, long> _last = [];
    private readonly byte[] _pool = new byte[PoolBytes];
    private readonly Random _random;
    private Task _sending = Task.CompletedTask;
    private long _sent;
    private (int Senders, long Number)? _expected;

    private GroupDesk(IGroup<ReadOnlyMemory<byte>> group, string file, int seed)
    {
        _group = group;
        _log = new StreamWriter(file) { AutoFlush = true };
        _sentLog = new StreamWriter(file + ".sent");
        _random = new Random(seed);
        _random.NextBytes(_pool);
        _ = ReadAsync();
    }

    /// <summary>The first thing that was wrong.</summary>
    public string? Fault { get; private set; }

    public static async Task<GroupDesk> JoinAsync(QuickSilverNode node, string name, string file, int seed)
    {
        var group = await node.OpenGroupAsync<ReadOnlyMemory<byte>>(name);
        Say.Line($"joined {name} {node.Id}");
        return new GroupDesk(group, file, seed);
    }

    /// <summary>Sends so many messages after those that it was asked to send before.</summary>
    public Task SendAsync(long count, int leastBytes, int mostBytes) =>
        _sending = SendAfterAsync(_sending, count, leastBytes, mostBytes);

    /// <summary>Reports when so many senders have come to this number.</summary>
    public void Expect(int senders, long number)
    {
        lock (_turn)
        {
            _expected = (senders, number);
            ReportIfComplete();
        }
    }

    public void Dispose()
    {
        lock (_turn)
        {
            _log.Dispose();
            _sentLog.Dispose();
        }
    }

    private async Task SendAfterAsync(Task before, long count, int leastBytes, int mostBytes)
    {
        await before;
        await Task.Yield();
        for (long i = 0; i < count; i++)
        {
            byte[] payload = new byte[_random.Next(leastBytes, mostBytes + 1)];
            _pool.AsSpan(_random.Next(PoolBytes - payload.Length), payload.Length).CopyTo(payload);
            BinaryPrimitives.WriteInt64LittleEndian(payload, ++_sent);
            await _sentLog.WriteLineAsync(LineOf(payload));
            await _group.SendAsync(payload);
        }

        await _sentLog.FlushAsync();
        Say.Line($"sent {_group.Name} {_sent}");
    }

    private async Task ReadAsync()
    {
        try
        {
            await foreach (var one in _group.ReadAllAsync(onGap: gap => Fault ??= $"{gap.Count} messages of {gap.Sender} are missing"))
            {
                lock (_turn)
                {
                    Note(one);
                }
            }
        }
        catch (Exception exception)
        {
            Fault ??= exception.ToString();
        }
    }

    private void Note(in GroupEvent<ReadOnlyMemory<byte>> one)
    {
        if (!one.TryGetMessage(out var message))
        {
            _log.WriteLine($"view {one.View.Number} {string.Join(',', one.View.Members)}");
            Say.Line($"view {_group.Name} {one.View.Members.Count}");
            return;
        }

        long number = BinaryPrimitives.ReadInt64LittleEndian(message.Span);
        if (_last.TryGetValue(one.Sender, out long last) && number != last + 1)
        {
            Fault ??= $"{number} of {one.Sender} came after {last}";
        }

        _last[one.Sender] = number;
        _log.WriteLine($"{one.Sender} {LineOf(message.Span)}");
        ReportIfComplete();
    }

    private void ReportIfComplete()
    {
        if (_expected is var (senders, number) && _last.Values.Count(last => last >= number) >= senders)
        {
            _expected = null;
            Say.Line($"has {_group.Name} {number}");
        }
    }

    private static string LineOf(ReadOnlySpan<byte> message)
    {
        string digest = Convert.ToHexString(SHA256.HashData(message), 0, DigestBytes);
        return $"{BinaryPrimitives.ReadInt64LittleEndian(message)} {message.Length} {digest}";
    }
}
