using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;

namespace QuickSilver.Microbenchmarks.Sealing;

// What sealing adds to the processor time of a packet, at its sender and at a receiver, beside what `openssl speed` says of the same bytes.
// The rounds of all are interleaved, and the best of each counts. What is plain has its checksum computed, what is sealed has none.
internal sealed partial class SealReport
{
    private const int Rounds = 5;
    private const int Packets = 44;
    private const int RunsAtOnce = 50;
    private const ulong Cluster = 1;

    private static readonly Sealer Self = new(7, 3);
    private static readonly TimeSpan RoundTime = TimeSpan.FromMilliseconds(400);

    private readonly int _packetBytes;
    private readonly int _sealedBytes;
    private readonly byte[] _plain;
    private readonly byte[] _sealed;
    private readonly byte[] _received;
    private readonly PacketSealer _sealer;
    private readonly PacketOpener _opener;

    private SealReport(int datagramBytes)
    {
        _sealedBytes = datagramBytes;
        _packetBytes = datagramBytes - SealedPacket.TrailerBytes;
        _plain = GC.AllocateArray<byte>(_packetBytes * Packets, pinned: true);
        _sealed = GC.AllocateArray<byte>(_sealedBytes * Packets, pinned: true);
        _received = GC.AllocateArray<byte>(_sealedBytes * Packets, pinned: true);
        var key = new SecretKey(new byte[SecretKey.Bytes]);
        _sealer = new PacketSealer(key, Self, PacketSealer.DefaultPacketsPerEpoch);
        _opener = new PacketOpener(key, new NoLimit());
        for (int i = 0; i < Packets; i++)
        {
            var packet = Packet(i);
            new PacketTemplate(Cluster, Self.Id, Self.Incarnation, 5, 6).Write(packet, PacketKind.Data, PacketFlags.None, i + 1, 0, 0);
            PacketTemplate.Seal(packet);
        }
    }

    public static void Run(string[] sizes)
    {
        int[] all = sizes.Length > 0
            ? [.. sizes.Select(size => int.Parse(size, CultureInfo.InvariantCulture))]
            : [1472, 8972];
        Console.WriteLine("datagram   seal adds   of openssl   open adds   of openssl   openssl   a forgery");
        foreach (int bytes in all)
        {
            new SealReport(bytes).Report();
        }
    }

    private void Report()
    {
        double checksum = double.MaxValue, seal = double.MaxValue, check = double.MaxValue, open = double.MaxValue;
        double forged = double.MaxValue, openssl = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            openssl = Math.Min(openssl, OpenSsl(_packetBytes - PacketHeader.Bytes));
            checksum = Math.Min(checksum, Time(null, Checksum));
            check = Math.Min(check, Time(null, Check));
            // After it the packets have no checksum.
            seal = Math.Min(seal, Time(null, Seal));
            open = Math.Min(open, Time(Receive, Open));
            forged = Math.Min(forged, Time(ReceiveForged, Open));
        }

        double added = seal - checksum, addedOpen = open - check;
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{_sealedBytes,8}   {added,6:0} ns   {added / openssl,10:0.00}   {addedOpen,6:0} ns   {addedOpen / openssl,10:0.00}   "
            + $"{openssl,4:0} ns   {forged,6:0} ns"));
    }

    // Nanoseconds of processor time for each packet, without what prepares a run.
    private static double Time(Action? prepare, Action work) => prepare is null
        ? Spend(work)
        : Spend(() =>
        {
            prepare();
            work();
        }) - Spend(prepare);

    private static double Spend(Action work)
    {
        long began = Stopwatch.GetTimestamp();
        var before = Environment.CpuUsage.TotalTime;
        long runs = 0;
        while (Stopwatch.GetElapsedTime(began) < RoundTime)
        {
            for (int i = 0; i < RunsAtOnce; i++)
            {
                work();
            }

            runs += RunsAtOnce;
        }

        return (Environment.CpuUsage.TotalTime - before).TotalNanoseconds / (runs * Packets);
    }

    private Span<byte> Packet(int i) => _plain.AsSpan(i * _packetBytes, _packetBytes);

    private void Checksum()
    {
        for (int i = 0; i < Packets; i++)
        {
            PacketTemplate.Seal(Packet(i));
        }
    }

    private void Seal()
    {
        for (int i = 0; i < Packets; i++)
        {
            PacketTemplate.CompleteWithoutChecksum(Packet(i));
        }

        _sealer.Seal(_plain, _packetBytes, _sealed);
    }

    private void Check()
    {
        for (int i = 0; i < Packets; i++)
        {
            Require(PacketHeader.Validate(Packet(i), Cluster), DropReason.None);
        }
    }

    private void Receive() => _sealed.CopyTo(_received, 0);

    private void ReceiveForged()
    {
        Receive();
        for (int i = 0; i < Packets; i++)
        {
            _received[(i * _sealedBytes) + PacketHeader.Bytes] ^= 1;
        }
    }

    private void Open()
    {
        for (int i = 0; i < Packets; i++)
        {
            var packet = _received.AsSpan(i * _sealedBytes, _sealedBytes);
            Require(SealedPacket.Validate(packet, Cluster), DropReason.None);
            _opener.Open(packet, SealedPacket.SealerOf(packet));
        }
    }

    private static void Require(DropReason answer, DropReason expected)
    {
        if (answer != expected)
        {
            throw new InvalidOperationException($"A packet was refused: {answer}.");
        }
    }

    private static double OpenSsl(int bytes)
    {
        var start = new ProcessStartInfo("openssl", $"speed -evp aes-256-gcm -bytes {bytes} -seconds 1")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        process.ErrorDataReceived += static (_, _) => { };
        process.BeginErrorReadLine();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        double kilobytes = double.Parse(Speed().Match(output).Groups[1].Value, CultureInfo.InvariantCulture);
        return bytes / kilobytes * 1e6;
    }

    [GeneratedRegex(@"AES-256-GCM\s+([0-9.]+)k")]
    private static partial Regex Speed();

    private sealed class NoLimit : ISubkeyBudget
    {
        public bool TryTake() => true;

        public bool TryTakeOld() => true;
    }
}
