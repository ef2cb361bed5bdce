using System.Globalization;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// What Wireshark shows of a run with the dissector in tools/wireshark.
public sealed class DissectorScenarios
{
    private const int Lines = 20_000;
    private const string Damaged = "quicksilver.malformed or _ws.malformed or _ws.lua.error";
    private const string Data = "1";

    [Fact]
    public void Each_packet_of_a_run_is_shown_with_its_messages_and_the_names_of_topics()
    {
        using var shark = CaptureRun(secretFile: null);

        Assert.Empty(shark.Read(Damaged, "frame.number"));
        var packets = Packets(shark);
        Assert.Equal(
            Enumerable.Range(1, packets.Max(static packet => packet.Sequence)),
            packets.Select(static packet => packet.Sequence).Distinct().Order());
        var frames = shark.Read($"quicksilver.kind == {Data}", "quicksilver.sequence");
        Assert.Contains(frames, static frame => frame[0].Length > 1);

        var messages = shark.Read("quicksilver.message.number", "quicksilver.topic.name", "quicksilver.message.number");
        Assert.All(messages, static frame => Assert.All(frame[0], static name => Assert.Equal("lines", name)));
        var numbers = messages.SelectMany(static frame => frame[1]).Select(Number).Distinct().Order();
        Assert.Equal(Enumerable.Range(1, Lines), numbers);

        string[] kinds = [.. shark.Read("quicksilver.kind", "quicksilver.kind").SelectMany(static frame => frame[0]).Distinct()];
        Assert.Contains("2", kinds);
        Assert.Contains("5", kinds);
        string[] messagesOfService =
            [.. shark.Read("quicksilver.frame", "quicksilver.frame").SelectMany(static frame => frame[0]).Distinct()];
        Assert.Superset(
            new HashSet<string> { "1", "3", "17", "19" }, messagesOfService.ToHashSet(StringComparer.Ordinal));
    }

    [Fact]
    public void Of_a_sealed_packet_its_header_and_the_node_that_sealed_it_are_shown()
    {
        using var secret = new SecretFile();
        using var shark = CaptureRun(secret.Path);

        Assert.Empty(shark.Read(Damaged, "frame.number"));
        Assert.Empty(shark.Read("quicksilver.topic", "frame.number"));
        var sealedData = shark.Read($"quicksilver.kind == {Data}", "quicksilver.sender", "quicksilver.trailer.sender", "quicksilver.epoch");
        Assert.NotEmpty(sealedData);
        Assert.All(sealedData, static frame =>
        {
            Assert.Equal(frame[0], frame[1]);
            Assert.All(frame[2], static epoch => Assert.NotEqual("0", epoch));
        });
    }

    private static SharkCommand CaptureRun(string? secretFile)
    {
        using var cluster = secretFile is null ? new QsmCluster(2) : new QsmCluster(2, secretFileOf: _ => secretFile);
        var shark = new SharkCommand(Path.Combine(Programs.Root, "tools", "wireshark", "quicksilver.lua"));
        try
        {
            shark.Capture(cluster.Network, 2);
            cluster.Subscribe(2, "lines");
            var publisher = cluster.Join(1, "pub", "lines", "--receivers", "1");
            publisher.Feed(TestLines.Join(TestLines.Make(Lines)));
            publisher.CloseInput();
            publisher.ExpectExit(0);
            shark.StopCapture();
            return shark;
        }
        catch
        {
            shark.Dispose();
            throw;
        }
    }

    private static List<(string Sender, int Sequence)> Packets(SharkCommand shark) =>
        [.. shark.Read($"quicksilver.kind == {Data}", "quicksilver.sender", "quicksilver.sequence")
            .SelectMany(static frame => frame[0].Zip(frame[1], static (sender, sequence) => (sender, Number(sequence))))];

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}
