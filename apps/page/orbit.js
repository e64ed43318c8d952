// A camera that goes round what it looks at: mouse, touch and keys.
"use strict";

class Orbit {
  constructor(camera, element) {
    this.camera = camera;
    this.target = new THREE.Vector3();
    this.yaw = 0.6;
    this.pitch = 0.35;
    this.distance = 3;
    this.isHeld = () => false; // whether something else has the pointer
    this.onChange = () => {};
    this.pointers = new Map();
    element.addEventListener("pointerdown", (e) => this.down(e, element));
    element.addEventListener("pointermove", (e) => this.move(e));
    for (const name of ["pointerup", "pointercancel"]) {
      element.addEventListener(name, (e) => this.pointers.delete(e.pointerId));
    }
    element.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(e.deltaY * 0.001));
    }, { passive: false });
    element.addEventListener("contextmenu", (e) => e.preventDefault());
  }

  frame(low, high) {
    this.target.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    this.size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1;
    this.distance = 1.5 * this.size;
    this.update();
  }

  down(e, element) {
    element.focus();
    if (this.isHeld()) return;
    element.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
  }

  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before[0], dy = e.clientY - before[1];
    if (this.pointers.size === 2) {
      const other = [...this.pointers.entries()].find(([id]) => id !== e.pointerId)[1];
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      this.zoom(apart(before) / apart([e.clientX, e.clientY]));
    } else if (e.buttons & 2 || e.shiftKey) {
      this.pan(dx, dy);
    } else {
      this.turn(-dx * 0.008, dy * 0.008);
    }
    this.pointers.set(e.pointerId, [e.clientX, e.clientY]);
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
    this.update();
  }

  zoom(by) {
    this.distance *= by;
    this.update();
  }

  pan(dx, dy) {
    const scale = this.distance / 900;
    const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    this.target.addScaledVector(right, -dx * scale).addScaledVector(up, dy * scale);
    this.update();
  }

  update() {
    const c = Math.cos(this.pitch);
    this.camera.position.set(Math.sin(this.yaw) * c, Math.sin(this.pitch), Math.cos(this.yaw) * c)
      .multiplyScalar(this.distance).add(this.target);
    this.camera.near = this.distance / 200;
    this.camera.far = this.distance * 20;
    this.camera.lookAt(this.target);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.camera.updateMatrix();
    this.onChange();
  }
}
