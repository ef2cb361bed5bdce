using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// Answers the probes of other hosts' doctors, until it is stopped: to who sent, and to the group as well, so that each learns of both
// directions.
internal sealed class MulticastListener : IDisposable
{
    private readonly Socket _own;
    private readonly Socket _group;
    private readonly IPEndPoint _doctors;
    private readonly DoctorAnswers _answers;
    private readonly Action<IPAddress, bool> _heard;
    private readonly HashSet<(IPAddress, bool)> _reported = [];
    private readonly long _begun = Stopwatch.GetTimestamp();
    // Reported once each; more addresses than hosts of a network can only be forged.
    private const int MostReported = 1024;

    /// <param name="local">The address of the interface.</param>
    /// <param name="cluster">Doctors of others are not answered.</param>
    /// <param name="timeToLive">Of answers to the group.</param>
    /// <param name="heard">Called with each host that is heard for the first time, and whether over the group.</param>
    public MulticastListener(IPAddress local, string cluster, int timeToLive, Action<IPAddress, bool> heard)
    {
        _doctors = DoctorSockets.GroupOf(local);
        _answers = new DoctorAnswers(cluster, () => Stopwatch.GetElapsedTime(_begun));
        _heard = heard;
        _group = DoctorSockets.OpenGroup(local);
        try
        {
            _own = DoctorSockets.OpenOwn(local, DoctorSockets.Port, timeToLive);
        }
        catch
        {
            _group.Dispose();
            throw;
        }
    }

    public Task RunAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(ReadAsync(_own, isGroup: false, cancellationToken), ReadAsync(_group, isGroup: true, cancellationToken));

    public void Dispose()
    {
        _own.Dispose();
        _group.Dispose();
    }

    private async Task ReadAsync(Socket socket, bool isGroup, CancellationToken cancellationToken)
    {
        byte[] bytes = new byte[DoctorDatagram.ProbeBytes];
        while (true)
        {
            try
            {
                var received = await socket.ReceiveFromAsync(bytes, DoctorSockets.AnyOf(_doctors.AddressFamily), cancellationToken);
                if (_answers.To(bytes.AsSpan(0, received.ReceivedBytes), isGroup) is { } answers)
                {
                    var from = (IPEndPoint)received.RemoteEndPoint;
                    Report(from.Address, isGroup);
                    await _own.SendToAsync(answers.ToProber, from, cancellationToken);
                    if (answers.ToGroup is { } toGroup)
                    {
                        await _own.SendToAsync(toGroup, _doctors, cancellationToken);
                    }
                }
            }
            catch (SocketException)
            {
                // One datagram too large, or one answer that could not be sent.
            }
        }
    }

    private void Report(IPAddress from, bool isGroup)
    {
        if (_reported.Count < MostReported && _reported.Add((from, isGroup)))
        {
            _heard(from, isGroup);
        }
    }
}
