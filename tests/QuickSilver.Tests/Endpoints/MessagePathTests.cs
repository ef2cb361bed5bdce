using System.Diagnostics;
using System.Text.RegularExpressions;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints;

// The rooms that a message passes, as docs/path-of-a-message.md names them and as the stacks of a machine's node show them. A path that
// left a room and came back to it would tie the rooms between to each other.
public sealed partial class MessagePathTests
{
    [Theory]
    [InlineData("Sending", 6)]
    [InlineData("Receiving", 6)]
    public void The_path_of_a_message_enters_each_room_once(string way, int rooms)
    {
        var named = RoomsOnPage(way);
        Assert.Equal(rooms, named.Length);
        Assert.Equal(named.Distinct(), named);
    }

    [Fact]
    public async Task Stacks_of_a_node_pass_the_rooms_in_the_order_of_the_page()
    {
        var codec = new StackCodec();
        var received = new TaskCompletionSource<string[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = $"path {Guid.NewGuid():N}" });
        await using var topic = await node.OpenTopicAsync<byte[]>("path", new TopicOptions<byte[]> { Codec = codec });
        using var handler = topic.SubscribeInline((in Message<byte[]> _) => received.TrySetResult(RoomsOf(new StackTrace())));
        // On a thread whose stack begins here: this method may continue on the stack of what opened the topic.
        await Task.Run(async () => await topic.PublishAsync([1])).OrFail();

        AssertOnPage("Receiving", await received.Task.OrFail());
        AssertOnPage("Sending", codec.Written!);
    }

    // The compiler may have inlined a room into the one before it.
    private static void AssertOnPage(string way, string[] passed)
    {
        // A message that had to wait comes from what it waited for: rooms that are not on the page, before those that are.
        var named = RoomsOnPage(way);
        Assert.Contains(passed[^1], named);
        Assert.Equal(passed.Distinct(), passed);
        Assert.Equal(named.Where(passed.Contains), passed.Where(named.Contains));
    }

    private static string[] RoomsOnPage(string way)
    {
        string page = File.ReadAllText(Path.Combine(RepositoryRoot.Path, "docs", "path-of-a-message.md"));
        string table = page.Split($"## {way}\n")[1].Split("\n## ")[0];
        return [.. RowWithRoom().Matches(table).Select(static row => row.Groups[1].Value)];
    }

    // From the outermost on, each once as long as the path stays in it.
    private static string[] RoomsOf(StackTrace stack)
    {
        var rooms = new List<string>();
        foreach (var frame in stack.GetFrames().Reverse())
        {
            if (RoomOf(frame.GetMethod()?.DeclaringType) is { } room && rooms.LastOrDefault() != room)
            {
                rooms.Add(room);
            }
        }

        return [.. rooms];
    }

    private static string? RoomOf(Type? type)
    {
        var parts = type?.FullName?.Split('.');
        return parts switch
        {
            ["QuickSilver", "Core" or "Multicast", var room, _, ..] => $"{parts[1]}/{room}",
            ["QuickSilver", not "Tests", _, ..] => $"{parts[0]}/{parts[1]}",
            _ => null,
        };
    }

    [GeneratedRegex(@"^\| [^|]*\| `([^`]+)` \|", RegexOptions.Multiline)]
    private static partial Regex RowWithRoom();

    private sealed class StackCodec : IPayloadCodec<byte[]>
    {
        private readonly IPayloadCodec<byte[]> _codec = CodecOfBytes();

        public string[]? Written { get; private set; }

        public PayloadSchema Schema => _codec.Schema;

        public int GetSize(in byte[] value) => _codec.GetSize(value);

        public int Write(in byte[] value, Span<byte> destination)
        {
            Written ??= RoomsOf(new StackTrace());
            return _codec.Write(value, destination);
        }

        public byte[] Read(ReadOnlySpan<byte> source) => _codec.Read(source);

        private static IPayloadCodec<byte[]> CodecOfBytes()
        {
            Assert.True(GeneratedCodecs.TryGet<byte[]>(out var codec));
            return codec;
        }
    }
}
