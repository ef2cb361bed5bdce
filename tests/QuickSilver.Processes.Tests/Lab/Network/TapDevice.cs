using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Text;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Lab.Network;

// One end of a cable: what a node sends through its device e0 is read here, and what is written here it receives.
// Each frame has a virtio header in front, through which the kernel leaves us the checksums and, where it can, whole
// runs of UDP segments.
internal sealed class TapDevice : IDisposable
{
    public const string InterfaceName = "e0";
    private readonly string _namespaceName;
    private int _file;

    private TapDevice(string namespaceName, int file, bool carriesRuns)
    {
        _namespaceName = namespaceName;
        _file = file;
        CarriesRuns = carriesRuns;
    }

    public int File => _file;

    /// <summary>Whether the kernel hands over and takes runs of UDP segments; if not, it cuts them itself before.</summary>
    public bool CarriesRuns { get; }

    /// <summary>Makes the device. Must run on a thread inside the namespace.</summary>
    public static TapDevice Open(string namespaceName, bool withRuns)
    {
        var file = Linux.Open("/dev/net/tun", Linux.OpenReadWrite | Linux.OpenNonBlocking | Linux.OpenCloseOnExec);
        if (file < 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError(), "cannot open /dev/net/tun");
        }

        // struct ifreq: 16 bytes of name, then here 2 bytes of flags.
        Span<byte> request = stackalloc byte[40];
        request.Clear();
        Encoding.ASCII.GetBytes(InterfaceName, request);
        short flags = Linux.TapDevice | Linux.NoPacketInformation | Linux.VirtioHeader;
        MemoryMarshal.Write(request[16..], flags);
        if (Linux.Control(file, Linux.TunSetInterface, request) < 0)
        {
            var error = Marshal.GetLastPInvokeError();
            _ = Linux.Close(file);
            throw new Win32Exception(error, $"cannot make the device of {namespaceName}");
        }

        var carriesRuns = withRuns && Linux.Control(file, Linux.TunSetOffload, Linux.OffloadChecksum | Linux.OffloadUdpRuns) == 0;
        if (!carriesRuns)
        {
            _ = Linux.Control(file, Linux.TunSetOffload, Linux.OffloadChecksum);
        }

        return new TapDevice(namespaceName, file, carriesRuns);
    }

    /// <summary>What the node's device dropped because the switch did not read fast enough; a run counts as one.</summary>
    public long DroppedBeforeTheSwitch() => NamespaceThread.Run(_namespaceName, static () =>
    {
        const int TransmitDropped = 11;
        var line = System.IO.File.ReadLines("/proc/thread-self/net/dev").First(l => l.TrimStart().StartsWith(InterfaceName + ":"));
        return long.Parse(line[(line.IndexOf(':') + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[TransmitDropped]);
    });

    public void Dispose()
    {
        var file = Interlocked.Exchange(ref _file, -1);
        if (file >= 0)
        {
            _ = Linux.Close(file);
        }
    }
}
